/** Values by name, as many as there may be: the one that was used longest ago makes room for a new one. */
export interface RecentlyUsed<Value> {
  /** The value with this name, made where there is none. */
  use(name: string, make: () => Value): Value
  delete(name: string): void
}

/** Holds at most `most` values; a map keeps the order in which its names came. */
export function recentlyUsed<Value>(most: number): RecentlyUsed<Value> {
  const values = new Map<string, Value>()
  let newest: string | undefined

  return {
    use(name, make) {
      const known = values.get(name)
      // Mostly the same one asks again.
      if (known !== undefined && name === newest) return known
      if (known !== undefined) values.delete(name)
      else if (values.size >= most) {
        const [oldest] = values.keys()
        if (oldest !== undefined) values.delete(oldest)
      }
      const value = known ?? make()
      values.set(name, value)
      newest = name
      return value
    },
    delete(name) {
      values.delete(name)
    },
  }
}
