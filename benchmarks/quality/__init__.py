"""How well our defaults learn in one pass, nothing tuned, beside Vowpal Wabbit's and River's."""
