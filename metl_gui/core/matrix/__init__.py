"""The dynamic mapping matrix and the document it makes with both trees: blocks of elements, dense and compact."""
