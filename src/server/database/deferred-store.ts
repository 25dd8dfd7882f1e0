import type { Dialect, Store } from './database.ts'

/** Returns a store that opens at its first use; after a failure the next use tries again. */
export function deferredStore(dialect: Dialect, open: () => Promise<Store>): Store {
  let opened: Promise<Store> | undefined

  function store(): Promise<Store> {
    opened ??= open().catch((error: unknown) => {
      opened = undefined
      throw error
    })
    return opened
  }

  return {
    dialect,
    one: async (query) => (await store()).one(query),
    all: async (query) => (await store()).all(query),
    cells: async (query) => (await store()).cells(query),
    run: async (query) => (await store()).run(query),
    async *stream(query) {
      yield* (await store()).stream(query)
    },
    read: async (work) => (await store()).read(work),
    write: async (work) => (await store()).write(work),
    emptyLog: async () => (await store()).emptyLog(),
    check: async () => (await store()).check(),
    close: async () => {
      await (await opened)?.close()
    },
  }
}
