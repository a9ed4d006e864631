"""What tests share: streams, problems, model files, the command line, pages."""
