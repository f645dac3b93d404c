"""What a machine, a project, its clusters, its lake and its connectors lack, with the remedy.

A check yields findings. It looks and changes nothing.
"""
