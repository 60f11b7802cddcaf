"""What the task classes of this package share: lmms-eval's ways, dealt with once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lmms_eval.api.task import ConfigurableMessagesTask

# name -> (aggregation over items, higher is better)
Metrics = dict[str, tuple[Callable[..., float], bool]]


class KwargsOrCallable(dict[str, Any]):
    """Generation arguments that are also a function of the document.

    Simple models expect (kwargs, function) at places 1 and 2 of a request, chat models
    (function, kwargs). An object that is both serves either, so one task class does.
    """

    def __init__(self, kwargs: dict[str, Any], function: Any) -> None:
        super().__init__(kwargs)
        self._function = function

    def __call__(self, doc: dict[str, Any], *_: Any, **__: Any) -> Any:
        return self._function(doc)

    def __deepcopy__(self, memo: dict[int, Any]) -> KwargsOrCallable:
        return KwargsOrCallable(dict(self), self._function)

    def __reduce__(self) -> tuple[type[dict[str, Any]], tuple[dict[str, Any]]]:
        # Logged samples, which hold it, travel between processes; the task must not go along.
        return dict, (dict(self),)


class HarnessTask(ConfigurableMessagesTask):
    """A task class that YAML names under ``class`` and that owns its metrics."""

    metrics: Metrics

    def __init__(self, *args: Any, config: dict[str, Any] | None = None, **kwargs: Any) -> None:
        # lmms-eval leaves the key that named this class in the configuration it hands over
        plain = {key: value for key, value in (config or {}).items() if key != "class"}
        super().__init__(*args, config=plain, **kwargs)

    def _prepare_metric_and_aggregation(self) -> None:
        # lmms-eval fills these from the YAML's metric_list; here they belong to the class,
        # because they do not differ between subsets.
        self._metric_fn_list = dict.fromkeys(self.metrics)
        self._metric_fn_kwargs: dict[str, Any] = {name: {} for name in self.metrics}
        self._aggregation_list = {name: aggregate for name, (aggregate, _) in self.metrics.items()}
        self._higher_is_better = {name: higher for name, (_, higher) in self.metrics.items()}
