import type { Cell } from '../database.ts'
import type { Connections } from './connection.ts'
import { servingFault } from './serving-fault.ts'

const batchRows = 1000

/**
 * Rows, a thousand at a time, from one unchanging view, on a connection of their own: the next ones are on their way
 * while the caller is busy with these. Throws 503 where no connection is free in time.
 *
 * @param begin how the transaction begins
 */
export async function* cursorOn(
  connections: Connections,
  begin: string,
  text: string,
  values: Cell[],
): AsyncGenerator<Cell[][], undefined> {
  const lease = await connections.lease().catch((error: unknown) => {
    throw servingFault(error)
  })
  const fetch = async () => (await lease.query(`fetch ${batchRows} from batches`)).rows
  // All rows are wanted, and so the plan is one for all of them.
  const opening = [
    lease.query(begin),
    lease.query('set local cursor_tuple_fraction = 1'),
    lease.query(`declare batches no scroll cursor for ${text}`, values),
  ]
  let isOpen = true
  const giveBack = () => {
    isOpen = false
    lease.query('rollback').then(
      () => lease.release(),
      () => lease.release(true),
    )
  }
  try {
    let next = Promise.all(opening).then(fetch)
    for (;;) {
      const rows = await next
      const isLast = rows.length < batchRows
      // Whoever takes their time with the last rows holds up nobody.
      if (isLast) giveBack()
      else next = fetch()
      // It is waited for only if the caller goes on.
      next.catch(() => undefined)
      if (rows.length > 0) yield rows
      if (isLast) return
    }
  } catch (error) {
    if (isOpen) lease.release(true)
    isOpen = false
    throw servingFault(error)
  } finally {
    if (isOpen) giveBack()
  }
}
