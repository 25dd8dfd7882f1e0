import type { RecordPart } from '../../contract/constants.ts'
import type { ForeignRecords, ForeignWrite, ForeignWriteResult } from '../../contract/foreign-records.ts'
import type { integrations } from '../../contract/integrations.ts'
import { type WriteOutcome, writeClassroom } from '../../lms/classroom-writes.ts'
import { readableTitles, recordSystemOf } from '../../lms/kinds.ts'
import {
  isRefusal,
  type RecordPage,
  type RecordQuestion,
  type RecordRefusal,
  type RecordResponse,
  type RecordSystem,
} from '../../lms/records.ts'
import { recordChange } from '../changes/change.ts'
import type { Call } from '../http/handler.ts'
import { bodyOf } from '../http/schema-routes.ts'
import { OutgoingError, type OutgoingResponse, type OutgoingTrouble } from '../outgoing/outgoing.ts'
import { notFound, ProblemError, unavailable } from '../problem-error.ts'
import { type ForeignAccess, refused, withAccess } from './foreign-access.ts'
import { type Integration, integrationOf, requireKind } from './integration.ts'

/** Less than clients wait for a response. */
const pageLimits = { timeoutMs: 25_000, maximumBytes: 16 * 1024 * 1024 }

/** One page. Nothing of the academy is read meanwhile, and nothing is stored. */
export async function readRecords(call: Call<typeof integrations.records>): Promise<ForeignRecords> {
  const { database, sealing, params, query } = call
  const lmsKind = requireKind(params.lmsKind)
  const integration = await integrationOf(database, lmsKind)
  if (!integration) throw notFound('integration', lmsKind)
  const system = recordSystemOf(lmsKind)
  if (!system) {
    throw refused('answer', `Records can be read from ${readableTitles().join(', ')}, not from ${lmsKind}.`)
  }
  const { part, of = null } = query
  if (
    !system.lists.some((list) => list.part === part && (of === null || list.of !== null || part === 'users'))
  ) {
    throw refused('answer', `${system.title} has no list of ${part}${of === null ? '' : ' of one course'}.`)
  }
  const place = `integration:${lmsKind}:cursor:${part}:${of ?? ''}`
  const position = query.cursor === undefined ? null : openCursor(call, place, query.cursor)
  const question = { part, of, position }
  const page = await askForPage(system, question, integration, call)
  return {
    lmsKind,
    system: system.title,
    data: page.records.map(({ part, id, record }) => ({ part, id, record })),
    // Encrypted, because the position of a list that is sorted by name holds a name.
    nextCursor: page.next === null ? null : await sealing.seal(database, place, page.next),
    byCourse: page.byCourse === true,
    requestsAtOnce: page.requestsAtOnce ?? system.requestsAtOnce,
    lists: system.lists.map(({ part, of, gives = [] }) => ({ part, of, gives: [...gives] })),
    notes: (page.notes ?? []).map(({ text, count, hides = null }) => ({ text, count, hides })),
  }
}

/** Throws a ProblemError if the other system refuses, or cannot be reached. */
export async function askForPage(
  system: RecordSystem,
  question: RecordQuestion,
  integration: Integration,
  call: Pick<Call, 'sealing' | 'outgoing' | 'now'>,
): Promise<RecordPage> {
  const send = async ({ baseUrl, token }: ForeignAccess) => {
    const { path, ...request } = system.request(question, token)
    const response = await call.outgoing({ ...request, url: baseUrl + path, ...pageLimits })
    if (response.isCut) throw refused('answer', `${system.title} sent a page of more than 16 MiB.`)
    return system.read(responseOf(response), question)
  }
  const isRefused = (answer: RecordPage | RecordRefusal) => isRefusal(answer) && answer.refusal === 'token'
  try {
    const answer = await withAccess(integration, call, send, isRefused)
    if (isRefusal(answer)) throw problemOf(system.title, question.part, answer)
    if (answer.next !== null && answer.next === question.position) {
      throw refused('answer', `${system.title} names the same page of ${question.part} again.`)
    }
    return answer
  } catch (error) {
    if (error instanceof OutgoingError) throw troubleOf(system.title, error)
    throw error
  }
}

export function responseOf({ status, headers, body }: OutgoingResponse): RecordResponse {
  const texts = Object.entries(headers).map(([name, value]) => [name, [value].flat().join(', ')] as const)
  return { status, headers: Object.fromEntries(texts), body: body.toString() }
}

function problemOf(
  title: string,
  part: RecordPart,
  { refusal, detail, retryAfter = 5 }: RecordRefusal,
): ProblemError {
  if (refusal === 'busy') {
    return unavailable(`${title} gives no more ${part} now: ${detail}.`, Math.max(1, retryAfter))
  }
  return refused(refusal, `${title}: ${detail}.`)
}

/** Troubles that last: another attempt meets the same. */
const lasting: ReadonlySet<OutgoingTrouble> = new Set([
  'forbidden_address',
  'unencrypted',
  'not_found',
  'tls',
])

export function troubleOf(title: string, error: OutgoingError): ProblemError {
  const detail = `${title} cannot be reached: ${error.message}.`
  return lasting.has(error.trouble) ? refused('answer', detail) : unavailable(detail, 1, error)
}

function openCursor({ sealing }: Pick<Call, 'sealing'>, place: string, cursor: string): string {
  try {
    return sealing.open(place, cursor)
  } catch (error) {
    throw new ProblemError('invalid_cursor', 'The cursor is not one of this list; start without one.', {
      cause: error,
    })
  }
}

type WriteCall = Call<typeof integrations.write>

const writeLimits = { timeoutMs: 15_000, maximumBytes: 1024 * 1024 }
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
      const response = await call.outgoing({ ...request, url: baseUrl + path, ...writeLimits })
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
