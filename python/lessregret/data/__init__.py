"""Data: where examples come from.

This is the first stage: text, Arrow files, tables and simulated logs become examples that a learner
can take. ``streams.py`` reads files and pipes, ``arrow_tables.py`` tables of other libraries and
``sql.py`` files of tables, databases and queries; ``recognise.py`` tells them apart. ``convert.py``
keeps examples in a file that is read fast, and ``examples.py`` keeps them in memory. ``datasets/``
finds named data sets on this computer, and ``generate/`` simulates click logs.
"""
