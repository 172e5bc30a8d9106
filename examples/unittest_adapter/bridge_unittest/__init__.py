"""An adapter as a stranger would write it: unittest as a framework, quizzes as a format."""
