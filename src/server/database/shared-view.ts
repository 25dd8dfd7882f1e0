import type { DatabaseSync } from 'node:sqlite'

/** One unchanging view of the data for all reads of one turn of the event loop. */
export interface SharedView {
  /** Every statement from now on is one of the view, until it is closed: in the next turn at the latest. */
  open(): void
  /** To be called before anything that writes, or that must not see what was true before. */
  close(): void
}

/**
 * The views of a connection. Most of what a small read takes is locking the file and letting it go: requests that came
 * together share that. All of them came before the view was opened, or were on their way; nobody can tell.
 *
 * @param inTurn does something once nobody is in the middle of a transaction
 */
export function sharedView(
  connection: DatabaseSync,
  inTurn: (work: () => void) => Promise<void>,
): SharedView {
  const [begin, commit] = [connection.prepare('begin'), connection.prepare('commit')]
  let isOpen = false

  function close(): void {
    // A fault of the disk may have ended it.
    if (isOpen && connection.isTransaction) commit.run()
    isOpen = false
  }

  return {
    open() {
      if (isOpen) return
      begin.run()
      isOpen = true
      setImmediate(() => void inTurn(close))
    },
    close,
  }
}
