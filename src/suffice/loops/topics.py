"""Topics of documents, their E step and their collapsed Gibbs sampler: native/topics.hpp."""

from .native import loops

N = 16  # topics in a row of counts: their number is padded to a multiple of it

dirichlet_words = loops.topics.dirichlet_words
infer = loops.topics.infer
add_counts = loops.topics.add_counts
sweep = loops.topics.sweep
count_in_documents = loops.topics.count_in_documents
count_topics = loops.topics.count_topics
log_joint_of_words = loops.topics.log_joint_of_words
log_joint_of_rows = loops.topics.log_joint_of_rows
rising = loops.topics.rising
left_to_right = loops.topics.left_to_right
