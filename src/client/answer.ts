import { jsonIn, jsonText } from '../codec/json-text.ts'
import type { HttpResponse } from '../contract/http.ts'
import type { Operation } from '../contract/operation.ts'
import { answer, mediaTypeOf, readBytes, readJson } from './decode.ts'
import { thingIn } from './envelope.ts'
import { ApiError, ProtocolError, type Target } from './errors.ts'
import { foundList, listBodyOf } from './list-body.ts'
import { nounOf } from './nouns.ts'
import { saysNothingDone, statusOfFailure } from './ok-failure.ts'
import type { RawPage } from './pages.ts'

/** The most that is read of a body that nobody expects: 64 KiB. */
const maximumRemarkBytes = 64 * 1024

/** Makes the error of a refusal. */
export type Refuse = (target: Target, reply: HttpResponse) => Promise<Error>

/** The JSON of a success. Throws ApiError where it says that it is a failure (`"success": false`, `"error": …`). */
async function readSuccess(target: Target, reply: HttpResponse, refuse: Refuse): Promise<unknown> {
  const body = await readJson(target, reply)
  await assertSuccess(target, reply, body, refuse)
  return body
}

async function assertSuccess(
  target: Target,
  reply: HttpResponse,
  body: unknown,
  refuse: Refuse,
): Promise<void> {
  const status = statusOfFailure(body)
  if (status === null) return
  const error = await refuse(target, { ...reply, status: status.said, body: jsonText(body) })
  if (status.certain || !(error instanceof ApiError)) throw error
  // No status is known but that of a success, which it is not.
  throw new ApiError(target, { ...error, detail: error.detail, status: reply.status, code: 'failed' })
}

/** What an operation answered: the items of a list in `data`, one thing out of its envelope. */
export async function readAnswer(
  target: Target,
  reply: HttpResponse,
  operation: Operation,
  refuse: Refuse,
): Promise<unknown> {
  if (operation.response === null) return readNothing(target, reply, refuse)
  const body = await readSuccess(target, reply, refuse)
  if (operation.list) return listBodyOf(foundList(target, body, operation))
  const thing = operation.report ? body : thingIn(body, nounOf(operation))
  assertDone(target, thing)
  // A write may go without an answer; a read without one has read nothing.
  if (thing === null && target.method === 'GET') {
    throw new ProtocolError(target, 'unexpected_shape', `${answer(target)} is empty`)
  }
  return thing
}

/** One page of a list, as it came. */
export async function readPage(
  target: Target,
  reply: HttpResponse,
  operation: Operation,
  refuse: Refuse,
): Promise<RawPage> {
  const body = await readSuccess(target, reply, refuse)
  return { list: foundList(target, body, operation), headers: reply.headers }
}

/**
 * Nothing is expected; what comes all the same is judged: a page is no sign that anything was done. Throws ApiError
 * and ProtocolError like any other answer.
 */
async function readNothing(target: Target, reply: HttpResponse, refuse: Refuse): Promise<undefined> {
  const body = await readJson(target, reply, maximumRemarkBytes)
  await assertSuccess(target, reply, body, refuse)
  assertDone(target, body)
}

/** Throws a ProtocolError where the answer to a write says that nothing changed. */
function assertDone(target: Target, body: unknown): void {
  if (target.method === 'GET' || !saysNothingDone(body)) return
  throw new ProtocolError(target, 'nothing_done', `${answer(target)} says that nothing changed`)
}

/** Throws the ApiError that JSON in place of a stream tells; nothing where it tells none. */
export async function assertNoFailure(target: Target, reply: HttpResponse, refuse: Refuse): Promise<void> {
  if (!/\bjson$/.test(mediaTypeOf(reply))) return
  const text = (await readBytes(reply, maximumRemarkBytes))?.toString('utf8') ?? ''
  await assertSuccess(target, reply, jsonIn(text), refuse)
}
