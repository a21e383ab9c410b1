"""Readers and writers of foreign files: text or bytes in, plain values out."""
