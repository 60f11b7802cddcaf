def manifests() -> list[object]:
    return []
