"""Which parameters belong to one agent: dataset, selection, correlation, clustering, assignment.

Lines 1-5 of the method: a dataset of <parameters, reward> pairs (:mod:`.dataset`), the best share
of it and the correlation between parameters there (:mod:`.correlation`), an agglomerative
clustering (:mod:`.tree`) and the assignment of parameters to agents (:mod:`.assignment`).
"""
