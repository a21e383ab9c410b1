"""The results service: rounds, draws, boards, results, standings. No result is ever overwritten silently."""
