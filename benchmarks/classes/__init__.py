"""How well and how fast many classes are learned, beside Vowpal Wabbit and scikit-learn."""
