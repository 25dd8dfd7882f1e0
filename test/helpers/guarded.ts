import { AsyncLocalStorage } from 'node:async_hooks'
import type { Store } from '../../src/server/database/database.ts'

/**
 * A store that says so when it is used inside one of its own transactions, instead of what these are handed: without it
 * such a test would wait for itself.
 */
export function guarded<Guarded extends Store>(store: Guarded): Guarded {
  const inside = new AsyncLocalStorage<true>()
  const outsideOnly = <Given extends readonly unknown[], Result>(use: (...given: Given) => Result) => {
    return (...given: Given): Result => {
      if (inside.getStore()) throw new Error('The academy was used inside its own transaction.')
      return use(...given)
    }
  }
  return {
    ...store,
    one: outsideOnly(store.one) as Store['one'],
    all: outsideOnly(store.all) as Store['all'],
    cells: outsideOnly(store.cells),
    run: outsideOnly(store.run),
    read: outsideOnly((work) => store.read((view) => inside.run(true, () => work(view)))) as Store['read'],
    write: outsideOnly((work) =>
      store.write((transaction) => inside.run(true, () => work(transaction))),
    ) as Store['write'],
  }
}
