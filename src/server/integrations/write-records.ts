import type { ForeignWrite, ForeignWriteResult } from '../../contract/foreign-records.ts'
import type { integrations } from '../../contract/integrations.ts'
import { type WriteOutcome, writeClassroom } from '../../lms/classroom-writes.ts'
import { recordChange } from '../changes/change.ts'
import type { Call } from '../http/handler.ts'
import { bodyOf } from '../http/schema-routes.ts'
import { OutgoingError } from '../outgoing/outgoing.ts'
import { notFound, ProblemError } from '../problem-error.ts'
import { type ForeignAccess, refused, withAccess } from './foreign-access.ts'
import { type Integration, integrationOf, requireKind } from './integration.ts'
import { responseOf, troubleOf } from './read-records.ts'

type WriteCall = Call<typeof integrations.write>

const timeoutMs = 15_000
const maximumBytes = 1024 * 1024
/** Time after which no further request is sent, so that the last one ends within the 30 seconds that clients wait. */
const sendWithinMs = 12_000
/** One after the other; stops where it has to wait. */
export async function writeRecords(call: WriteCall): Promise<ForeignWriteResult> {
  const lmsKind = requireKind(call.params.lmsKind)
  const integration = await integrationOf(call.database, lmsKind)
  if (!integration) throw notFound('integration', lmsKind)
  if (lmsKind !== 'classroom') {
    throw refused('answer', `Records can be written to Google Classroom, not to ${lmsKind}.`)
  }
  const { records } = bodyOf(call)
  const results: ForeignWriteResult['results'] = []
  let retryAfter = 0
  let isRefused = false
  const beganMs = performance.now()
  for (const [index, record] of records.entries()) {
    const isLate = performance.now() - beganMs > sendWithinMs
    const isEnding = retryAfter > 0 || isRefused || isLate
    const writing = isEnding ? notBegun : writeOne(integration, record, call, beganMs)
    const { outcome, id, detail, ...more } = await Promise.resolve(writing).catch((error: unknown) => {
      // Records that were written are reported; the next request is refused as a whole.
      if (index === 0 || !(error instanceof ProblemError)) throw error
      isRefused = true
      return notBegun
    })
    if (outcome === 'waiting') retryAfter = Math.max(retryAfter, Math.ceil(more.retryAfter ?? 1))
    results.push({ index, outcome, id, detail })
  }
  return { lmsKind, results, retryAfter }
}

type Written = Omit<WriteOutcome, 'outcome'> & {
  readonly outcome: Exclude<WriteOutcome['outcome'], 'signed_out'>
}

const notBegun: Written = { outcome: 'waiting', id: null, detail: 'not begun' }

/** Throws 409 if the sign-in has ended. */
async function writeOne(
  integration: Integration,
  record: ForeignWrite,
  call: WriteCall,
  beganMs: number,
): Promise<Written> {
  const write = async ({ baseUrl, token }: ForeignAccess): Promise<WriteOutcome> => {
    const writing = writeClassroom(record, token)
    let step = writing.next()
    for (let sent = 0; !step.done; sent += 1) {
      if (sent > 0 && performance.now() - beganMs > sendWithinMs) {
        return { ...notBegun, detail: 'not finished in time' }
      }
      const { path, ...request } = step.value
      const response = await call.outgoing({ ...request, url: baseUrl + path, timeoutMs, maximumBytes })
      step = writing.next(responseOf(response))
    }
    return step.value
  }
  try {
    const written = await withAccess(integration, call, write, ({ outcome }) => outcome === 'signed_out')
    const { outcome } = written
    if (outcome === 'signed_out') throw refused('token', `Google Classroom: ${written.detail}.`)
    return { ...written, outcome }
  } catch (error) {
    if (!(error instanceof OutgoingError)) throw error
    // Whether the last request was carried out is unknown; repeating it does nothing twice.
    const problem = troubleOf('Google Classroom', error)
    if (problem.code === 'other_system_refused') throw problem
    return { outcome: 'waiting', id: null, detail: error.message }
  }
}

/** Records in the audit log how many records were written, without their content. */
export async function recordWrites(call: WriteCall): Promise<ForeignWriteResult> {
  const { records } = bodyOf(call)
  const result = call.prepared as ForeignWriteResult
  const counts: Record<string, number> = {}
  for (const { index, outcome } of result.results) {
    if (!['created', 'updated', 'invited'].includes(outcome)) continue
    const name = `${records[index]?.part} ${outcome}`
    counts[name] = (counts[name] ?? 0) + 1
  }
  if (Object.keys(counts).length > 0) {
    const after = { lmsKind: result.lmsKind, written: counts }
    await recordChange(call, { action: 'integration.written', id: result.lmsKind, before: null, after })
  }
  return result
}
