import type { Cell } from '../database.ts'
import type { Connections } from './connection.ts'
import { servingFault } from './serving-fault.ts'

const batchRows = 1000

/**
 * Streams rows, a thousand at a time, from one snapshot on a separate connection; the next batch is fetched while the
 * caller handles this one. Throws 503 if no connection is free in time.
 *
 * @param begin statement that begins the transaction
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
  // All rows will be read, so plan for the total cost instead of the first rows.
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
      // A slow caller need not hold the connection during the last batch.
      if (isLast) giveBack()
      else next = fetch()
      // Awaited only if the caller goes on; avoids an unhandled rejection otherwise.
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
