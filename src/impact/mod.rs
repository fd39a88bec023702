//! What an effect does further down the graph, and the order of a refresh.
