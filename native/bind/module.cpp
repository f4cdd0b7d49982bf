// The loops of one level of instructions, in a submodule for each topic.
#include "bind.hpp"

namespace suffice {
void bind_chains(nb::module_&);
void bind_distances(nb::module_&);
void bind_elementary(nb::module_&);
void bind_log_linear(nb::module_&);
void bind_logistic(nb::module_&);
}

NB_MODULE(LEVEL_MODULE, m) {
    auto topic = [&](const char* name, void (*bind)(nb::module_&)) {
        auto submodule = m.def_submodule(name);
        bind(submodule);
    };
    topic("chains", suffice::bind_chains);
    topic("distances", suffice::bind_distances);
    topic("elementary", suffice::bind_elementary);
    topic("log_linear", suffice::bind_log_linear);
    topic("logistic", suffice::bind_logistic);
}
