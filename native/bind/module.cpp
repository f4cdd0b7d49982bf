// The loops of one level of instructions, in a submodule for each topic.
#include "bind.hpp"

NB_MODULE(LEVEL_MODULE, m) {
    for (auto* topic = suffice::Topic::first; topic; topic = topic->next) {
        auto submodule = m.def_submodule(topic->name);
        topic->bind(submodule);
    }
}
