import { jsonText, parseJsonOrNull } from '../../codec/json-text.ts'
import type { HttpResponse } from '../../contract/http.ts'
import type { Operation } from '../../contract/operation.ts'
import type { Result } from '../call.ts'
import { ProtocolError, type Target } from '../errors.ts'
import {
  type Body,
  isConfirmed,
  mediaTypeOf,
  type RawPage,
  readBody,
  readBytes,
  subjectOf,
} from '../reply.ts'
import { foundList, type ListBody, listBodyOf, thingIn } from './body.ts'
import { nounOf } from './names.ts'
import { recordOf } from './record.ts'
import { type FailureStatus, failureIn, reportsNoEffect } from './refusal.ts'
import { type AnsweredWrite, answeredId, type ForeignAnswer, judgeWrite } from './written.ts'

/** Maximum size of a body where the operation declares none: 64 KiB. */
const maxRemarkBytes = 64 * 1024

/** Creates the error of a refusal; `failure` is the status in the body of a response with a status of success. */
export type Refuse = (target: Target, reply: HttpResponse, failure: FailureStatus) => Promise<Error>

/** Reads the body of a success. Throws ApiError if it reports a failure (`"success": false`, `"error": …`). */
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

/** Reads a response: the items of a list in `data`, a record without its envelope; checks whether a write was done. */
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
  // A batch response with one result (207) contains the refusal.
  if (data !== value && target.method !== 'GET') await assertSuccess(target, reply, data, refuse)
  assertDone(target, data)
  // A write may have an empty response, a read may not.
  if (data === null && target.method === 'GET') {
    throw new ProtocolError(target, 'unexpected_shape', `${subjectOf(target)} is empty`)
  }
  return { data, body, form }
}

/** Reads a page of a list. */
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
 * Reads a response that should have no body. Checks a body that comes all the same: a web page does not show that the
 * write was done. Throws ApiError and ProtocolError as for other responses.
 */
async function readNothing(target: Target, reply: HttpResponse, refuse: Refuse): Promise<ForeignAnswer> {
  const { form, value: body } = await readSuccess(target, reply, refuse, maxRemarkBytes)
  assertDone(target, body)
  return { data: undefined, body, form }
}

/** Throws a ProtocolError if the response to a write says that nothing changed. */
function assertDone(target: Target, body: unknown): void {
  if (target.method === 'GET' || !reportsNoEffect(body)) return
  throw new ProtocolError(target, 'nothing_done', `${subjectOf(target)} says that nothing changed`)
}

/** Throws an ApiError if JSON in place of a stream reports a failure. */
export async function assertNoFailure(target: Target, reply: HttpResponse, refuse: Refuse): Promise<void> {
  if (!/\bjson$/.test(mediaTypeOf(reply))) return
  const text = (await readBytes(reply, maxRemarkBytes))?.toString('utf8') ?? ''
  await assertSuccess(target, reply, parseJsonOrNull(text), refuse)
}
