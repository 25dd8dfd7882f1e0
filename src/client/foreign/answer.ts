import { jsonText, parseJsonOrNull } from '../../codec/json-text.ts'
import type { HttpResponse } from '../../contract/http.ts'
import type { Operation } from '../../contract/operation.ts'
import type { RawPage } from '../answer.ts'
import { isConfirmed, type Result } from '../call-input.ts'
import { answer, type Body, mediaTypeOf, readBody, readBytes } from '../decode.ts'
import { ProtocolError, type Target } from '../errors.ts'
import { foundList, type ListBody, listBodyOf, thingIn } from './body.ts'
import { nounOf } from './names.ts'
import { recordOf } from './record.ts'
import { type FailureStatus, failureIn, saysNothingDone } from './refusal.ts'
import { type AnsweredWrite, answeredId, type ForeignAnswer, judgeWrite } from './written.ts'

/** The most that is read of a body that nobody expects: 64 KiB. */
const maximumRemarkBytes = 64 * 1024

/** Makes the error of a refusal; `failure` is the status that a success has in its body. */
export type Refuse = (target: Target, reply: HttpResponse, failure: FailureStatus) => Promise<Error>

/** The body of a success. Throws ApiError where it says that it is a failure (`"success": false`, `"error": …`). */
async function readSuccess(
  target: Target,
  reply: HttpResponse,
  refuse: Refuse,
  limitBytes?: number,
): Promise<Body> {
  const body = await readBody(target, reply, limitBytes)
  if (body.form === 'json') await assertSuccess(target, reply, body.value, refuse)
  return body
}

async function assertSuccess(
  target: Target,
  reply: HttpResponse,
  body: unknown,
  refuse: Refuse,
): Promise<void> {
  const failure = failureIn(body)
  if (failure !== null) throw await refuse(target, { ...reply, body: jsonText(body) }, failure)
}

/** What an operation answered: the items of a list in `data`, one thing out of its envelope; a write is judged by it. */
export async function readAnswer(
  { target, operation, input, reply }: Omit<AnsweredWrite, 'answer'>,
  refuse: Refuse,
): Promise<Pick<Result<unknown>, 'data' | 'written' | 'id'>> {
  const answer = await answerIn(target, reply, operation, refuse)
  const isSure = operation.method === 'GET' || isConfirmed(reply.headers)
  const { data } = answer
  return {
    data: operation.list ? recordsIn(data, operation) : operation.report ? data : recordOf(data, operation),
    written: isSure ? null : judgeWrite({ target, operation, input, reply, answer }),
    id: answeredId(operation, input, { data, location: reply.headers['location'] ?? null }),
  }
}

function recordsIn(list: unknown, operation: Operation): unknown {
  const { data } = list as ListBody
  return { ...(list as ListBody), data: data.map((item) => recordOf(item, operation)) }
}

async function answerIn(
  target: Target,
  reply: HttpResponse,
  operation: Operation,
  refuse: Refuse,
): Promise<ForeignAnswer> {
  if (operation.response === null) return readNothing(target, reply, refuse)
  const { form, value: body } = await readSuccess(target, reply, refuse)
  const value = form === 'json' ? body : null
  if (operation.list) return { data: listBodyOf(foundList(target, value, operation)), body, form }
  const data = operation.report ? value : thingIn(value, nounOf(operation))
  // A list of one outcome (207) has the refusal inside.
  if (data !== value && target.method !== 'GET') await assertSuccess(target, reply, data, refuse)
  assertDone(target, data)
  // A write may go without an answer; a read without one has read nothing.
  if (data === null && target.method === 'GET') {
    throw new ProtocolError(target, 'unexpected_shape', `${answer(target)} is empty`)
  }
  return { data, body, form }
}

/** One page of a list. */
export async function readPage(
  target: Target,
  reply: HttpResponse,
  operation: Operation,
  refuse: Refuse,
): Promise<RawPage> {
  const { value } = await readSuccess(target, reply, refuse)
  const list = foundList(target, value, operation)
  const items = list.items.map((item) => recordOf(item, operation))
  return { ...list, items, headers: reply.headers, isOwn: false }
}

/**
 * Nothing is expected; what comes all the same is judged: a page is no sign that anything was done. Throws ApiError
 * and ProtocolError like any other answer.
 */
async function readNothing(target: Target, reply: HttpResponse, refuse: Refuse): Promise<ForeignAnswer> {
  const { form, value: body } = await readSuccess(target, reply, refuse, maximumRemarkBytes)
  assertDone(target, body)
  return { data: undefined, body, form }
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
  await assertSuccess(target, reply, parseJsonOrNull(text), refuse)
}
