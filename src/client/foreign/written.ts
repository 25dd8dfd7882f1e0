import { isJsonObject, type JsonObject, jsonText, parseJsonOrNull } from '../../codec/json-text.ts'
import { parseReference } from '../../codec/reference.ts'
import type { HttpResponse } from '../../contract/http.ts'
import type { Operation } from '../../contract/operation.ts'
import type { AnyInput, Written } from '../call.ts'
import { hostOf, lineOf, ProtocolError, type RawAnswer, type Target } from '../errors.ts'
import { type Body, subjectOf } from '../reply.ts'
import { isRemark } from './body.ts'
import { bareName, nounOf } from './names.ts'
import { idOf, memberOf, thingsIn } from './record.ts'
import { readError, reportsEffect } from './refusal.ts'
import { sameReference, short, timeOf, verdictOn } from './same-value.ts'

/** A response, read. */
export interface ForeignAnswer {
  /** The record without envelope, or the items of a list in `data`; undefined without response body. */
  readonly data: unknown
  /** The whole body. */
  readonly body: unknown
  readonly form: Body['form']
}

/** A write and the response to it. */
export interface AnsweredWrite {
  readonly target: Target
  readonly operation: Operation
  readonly input: AnyInput
  readonly reply: HttpResponse
  readonly answer: ForeignAnswer
}

/** Fields of requests that responses never have. */
const writeOnly: ReadonlySet<string> = new Set(['password', 'extraCredit'])
/** Fields that only the platform sets, besides the id. */
const madeFields = ['version', 'createdAt', 'updatedAt'] as const
const maxWords = 300

/**
 * Checks by the response whether a write was done. The response must show a value that was sent, the id, or a field that
 * only the platform sets; or confirm the write by its status, an empty body, `Location` or a word. Throws a ProtocolError
 * for any other response, and for one about another record.
 */
export function judgeWrite(write: AnsweredWrite): Written {
  const { operation, answer } = write
  // Each result in a report is checked on its own.
  if (operation.report) return { shown: true, other: [], unshown: [] }
  const noun = nounOf(operation)
  const things = [...thingsIn(answer.data ?? answer.body, noun)].filter(isThing)
  const fields = compareFields(write, things, noun)
  const another =
    fields.find(({ verdict, isIdentity }) => verdict === false && isIdentity) ??
    (operation.method === 'POST' ? (otherKey(fields) ?? userInstead(fields, things)) : undefined)
  if (another) throw aboutAnother(write, another)

  const id = idShown(write, noun)
  const same = fields.some(({ verdict }) => verdict === true) || id === 'acted on'
  const isNamed = id === 'own' || id === 'acted on' || things.some((thing) => showsMade(thing, noun))
  const bodies = [...new Set([answer.body, answer.data, ...things])].filter(isJsonObject)
  const isShown =
    !bodies.some(reportsFailure) &&
    (write.reply.status === 202
      ? same && (isNamed || operation.method !== 'POST') && !bodies.some(isWaiting)
      : // An object with only an id, or with only the values sent, may be an error.
        (same && isNamed) || ((same || isNamed) && !bodies.some(reportsProblem)))
  if (!isShown && !confirmsOtherwise(write, bodies)) {
    if (typeof id === 'object' && id !== null) throw aboutAnother(write, { field: 'id', ...id })
    throw notShown(write)
  }
  const judged = fields.filter(({ inBody }) => inBody)
  return {
    shown: isShown,
    other: judged.filter(({ verdict }) => verdict === false),
    // Without any comparable field, missing ones mean nothing.
    unshown: judged.some(({ verdict }) => verdict !== null)
      ? judged.filter(({ verdict, isHidden }) => verdict === null && isHidden).map(({ field }) => field)
      : [],
  }
}

/** A value that was sent, and the one that the platform shows. */
export interface ComparedField {
  readonly field: string
  readonly sent: unknown
  readonly shown: unknown
  /** Null if it cannot be decided. */
  readonly verdict: boolean | null
  readonly isHidden: boolean
  readonly inBody: boolean
  /** True for a field that identifies the record, such as its learner. */
  readonly isIdentity: boolean
}

/** Compares each value in the body and path of a write with the records that the platform shows. */
export function compareFields(
  { operation, input: { params = {}, body, handling } }: Pick<AnsweredWrite, 'operation' | 'input'>,
  things: readonly JsonObject[],
  noun: string,
): ComparedField[] {
  const own = ownParameter(operation)
  const references = Object.entries(params).filter(([name]) => name !== own && name.endsWith('Id'))
  const sent = [
    ...leavesOf(body)
      // A platform may adjust the times of a lenient request.
      .filter(
        ([field, value]) => !writeOnly.has(field) && !(handling === 'lenient' && timeOf(value) !== null),
      )
      .map(([field, value]) => [field, value, true] as const),
    ...references.map(([field, value]) => [field, value, false] as const),
  ]
  return sent.map(([field, value, inBody]) => {
    const shown = things.map((thing) => memberOf(thing, field, noun)).find((each) => each !== undefined)
    const verdict = !inBody || isReference(field) ? sameReference(value, shown) : verdictOn(value, shown)
    const isList = Array.isArray(value) && Array.isArray(shown) && value.length === shown.length
    // `ext:sea` is shown as the id that it refers to.
    const isReferred = isReference(field) && parseReference(String(value)).by !== 'id' && isShown(shown)
    const isIdentity = !inBody || (isReference(field) && own === undefined && operation.method === 'PUT')
    return { field, sent: value, shown, verdict, isHidden: !isList && !isReferred, inBody, isIdentity }
  })
}

/** Returns a key of a new record that has another value. One equal key is enough; a masked one is ignored. */
function otherKey(fields: readonly ComparedField[]): ComparedField | undefined {
  const keys = fields.filter(({ field, inBody }) => inBody && (field === 'externalId' || field === 'email'))
  if (keys.some(({ verdict }) => verdict === true)) return undefined
  return keys.find(({ verdict, shown }) => verdict === false && !/^\s*$|\*/.test(String(shown)))
}

/** Returns the email of a user if the response shows a user in place of the record with a title that was sent. */
function userInstead(
  fields: readonly ComparedField[],
  things: readonly JsonObject[],
): Pick<ComparedField, 'field' | 'sent' | 'shown'> | undefined {
  const title = fields.find(({ field }) => field === 'title')
  if (!title || fields.some(({ field, shown }) => shown !== undefined || field === 'email')) return undefined
  const [shown] = things.flatMap((thing) =>
    Object.entries(thing).flatMap(([name, value]) => (bareName(name) === 'email' ? [value] : [])),
  )
  return typeof shown === 'string' && shown !== '' ? { field: 'email', sent: undefined, shown } : undefined
}

/** Returns the path parameter of the written record itself: `courseId` of `/v1/courses/{courseId}`. */
function ownParameter({ path }: Operation): string | undefined {
  return /\{(\w+)\}$/.exec(path)?.[1]
}

function isShown(value: unknown): boolean {
  return value !== undefined && value !== null && value !== ''
}

function isReference(field: string): boolean {
  return /^(course|lesson|user|learner|module)Id$/.test(field)
}

/**
 * Returns `own` for the id of a new record, or of the last path parameter; `acted on` for that of an earlier one, as of
 * `/replay`; both ids if they differ.
 */
function idShown(
  { operation, input: { params = {} }, answer: { data, body } }: AnsweredWrite,
  noun: string,
): 'own' | 'acted on' | { readonly sent: string; readonly shown: string } | null {
  const shown = idOf(data ?? body, noun, operation.identifier)
  if (shown === null) return null
  const sent = params[ownParameter(operation) ?? '']
  if (sent === undefined) {
    if (Object.values(params).includes(shown)) return 'acted on'
    return operation.method === 'POST' ? 'own' : null
  }
  return sameReference(sent, shown) === false ? { sent, shown } : 'own'
}

function showsMade(thing: JsonObject, noun: string): boolean {
  return madeFields.some((field) => {
    const value = memberOf(thing, field, noun)
    if (field === 'version') return typeof value === 'number' || /^\d+(\.0+)?$/.test(String(value))
    return timeOf(value) !== null || (typeof value === 'number' && value > 1e8)
  })
}

/** True if a response confirms the write without showing the record. */
function confirmsOtherwise(
  { target, operation, reply: { status, headers }, answer: { body, form } }: AnsweredWrite,
  bodies: readonly JsonObject[],
): boolean {
  // 202 is not done yet, and the status 207 covers several results.
  if (status === 202 || status === 207 || bodies.some(reportsFailure)) return false
  if ([201, 204, 205].includes(status) || form === 'empty') return true
  if (isInside(operation, target, headers['location'])) return true
  if (bodies.some(reportsProblem)) return false
  if (typeof body === 'string') return isDoneText(body)
  return reportsEffect(body) || bodies.some((each) => reportsEffect(each) || textsIn(each).some(isDoneText))
}

/** True for a `Location` in the collection that was written to (RFC 9110 §10.2.2), not of a job elsewhere. */
function isInside({ path }: Operation, { url }: Target, location: string | undefined): boolean {
  if (location === undefined || !URL.canParse(location, url)) return false
  const collection = path.split('/').findLast((step) => step !== '' && !step.startsWith('{'))
  return new URL(location, url).pathname.split('/').at(-2) === collection
}

/** Members that describe the outcome of a call. */
const outcomeNames =
  /^(message|messages|msg|status|statustext|result|outcome|state|code|info|text|detail|reason)$/
const doneText =
  /\b(ok|okay|done|success|successful|successfully|succeeded|saved|stored|created|added|updated|modified|deleted|removed)\b/i
/** Words that negate a sentence: "not saved", "already created", "cannot be deleted". */
const objection =
  /\b(no|not|never|none|cannot|unable|without|already|exists?|must|should|missing|required|duplicate|taken|unknown|error\w*|fail\w*|invalid|illegal|denied|refused|rejected|forbidden|unauthori[sz]ed|expired|exceed\w*|wrong|conflict\w*|locked)\b|n't\b/i
const failedText = /^\s*(error|fail|failed|failure|ko|nok|invalid|denied|refused|rejected)\s*$/i
const faultNames = /err|fault|fail|exception|problem|violation|invalid|reject/

function isDoneText(text: string): boolean {
  return text.length <= 500 && doneText.test(text) && !objection.test(text)
}

function textsIn(body: JsonObject): string[] {
  return Object.entries(body).flatMap(([name, value]) =>
    typeof value === 'string' && outcomeNames.test(bareName(name)) ? [value] : [],
  )
}

/** True for a failure in the body: `"status": "fail"`, `"statusCode": 422`. */
function reportsFailure(body: JsonObject): boolean {
  return Object.entries(body).some(([name, value]) => {
    const bare = bareName(name)
    if (!['status', 'statuscode', 'result', 'outcome', 'state'].includes(bare)) return false
    return failedText.test(String(value)) || (Number(value) >= 400 && Number(value) <= 599)
  })
}

/** True for a response to a write that is still pending. */
function isWaiting(body: JsonObject): boolean {
  return (
    reportsProblem(body) ||
    textsIn(body).some((text) => /\b(queued|pending|scheduled|processing|running)\b/i.test(text))
  )
}

/** True for a body with content that a success would not have. */
function reportsProblem(body: JsonObject): boolean {
  return (
    textsIn(body).some((text) => objection.test(text)) ||
    Object.entries(body).some(([name, value]) => faultNames.test(bareName(name)) && isErrorValue(value))
  )
}

/** True for a response that says that a write failed. */
export function isObjection(answer: RawAnswer | null): boolean {
  const body = parseJsonOrNull(answer?.body ?? '')
  if (typeof body === 'string') return objection.test(body)
  const bodies = isJsonObject(body) ? [body, ...Object.values(body).filter(isJsonObject)] : []
  return bodies.some((each) => reportsFailure(each) || reportsProblem(each))
}

/** True for a value that reports an error: not empty, and not a word or number for success or nothing. */
function isErrorValue(value: unknown): boolean {
  if (typeof value === 'string') return !/^\s*(|0|false|no|none|null|ok|success)\s*$/i.test(value)
  if (typeof value === 'number') return value !== 0 && (value < 200 || value > 299)
  if (Array.isArray(value)) return value.length > 0
  return value === true || (isJsonObject(value) && Object.keys(value).length > 0)
}

function aboutAnother(
  write: AnsweredWrite,
  { field, sent, shown }: { readonly field: string; readonly sent: unknown; readonly shown: unknown },
): ProtocolError {
  const { target } = write
  const wanted = sent === undefined ? ', which was not sent' : `, not ${short(sent)}`
  const message = `${subjectOf(target)} is about another record: ${field} is ${short(shown)}${wanted}`
  return new ProtocolError(target, 'another_record', message, undefined, rawOf(write))
}

function notShown(write: AnsweredWrite): ProtocolError {
  const { target, reply, answer } = write
  const words = wordsOf(answer)
  const said = words === null ? 'without the record' : `with: ${words}`
  const message = `${hostOf(target)} did not confirm ${lineOf(target)}; it returned ${reply.status} ${said}`
  return new ProtocolError(target, 'not_shown', message, undefined, rawOf(write))
}

/** Returns the platform's message, else the body, truncated; null for an empty body. */
function wordsOf({ body }: ForeignAnswer): string | null {
  if (body === null || body === undefined) return null
  const named = isJsonObject(body)
    ? Object.entries(body).find(
        ([name, value]) =>
          typeof value === 'string' && value !== '' && /te?xt|message|msg|reason|err|desc|info/i.test(name),
      )?.[1]
    : undefined
  const text = String(readError(body).detail ?? named ?? jsonText(body)).trim()
  return text.length > maxWords ? `${text.slice(0, maxWords)}…` : text
}

function rawOf({ reply: { status, headers }, answer: { body } }: AnsweredWrite) {
  return { status, headers, body: body === null || body === undefined ? '' : jsonText(body) }
}

/** True for an object with fields besides those about the call. */
function isThing(value: unknown): value is JsonObject {
  return isJsonObject(value) && Object.keys(value).some((name) => !isRemark(bareName(name)))
}

/** Returns the values of a body by dotted path, without nulls: a null resets a field to a default of the platform. */
function leavesOf(value: unknown, path = ''): (readonly [field: string, value: unknown])[] {
  if (isJsonObject(value)) {
    return Object.entries(value).flatMap(([name, inner]) => leavesOf(inner, path ? `${path}.${name}` : name))
  }
  return value === null || value === undefined ? [] : [[path, value]]
}

/**
 * Returns the id of the record that a write created or changed: from the response, else from `Location`, else from the
 * request. Null if none of them has it.
 */
export function answeredId(
  operation: Operation,
  { params }: AnyInput,
  { data, location }: { readonly data: unknown; readonly location: string | null },
): string | null {
  const [named] = Object.values(params ?? {})
  const id = named !== undefined && parseReference(named).by === 'id' ? named : null
  return idOf(data, nounOf(operation), operation.identifier) ?? idInLocation(operation, location) ?? id
}

/** Returns the last segment of a `Location` inside the collection that was written to (RFC 9110 §10.2.2). */
function idInLocation({ path }: Operation, location: string | null): string | null {
  const base = 'http://localhost'
  if (location === null || !URL.canParse(location, base)) return null
  const segment = new URL(location, base).pathname.split('/').filter(Boolean).at(-1)
  if (segment === undefined || segment === path.split('/').at(-1)) return null
  try {
    return decodeURIComponent(segment)
  } catch {
    return null
  }
}
