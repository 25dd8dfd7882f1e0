import { type ErrorCode, type ErrorStatus, phraseOf, statusOf } from '../errors.ts'
import type { Operation } from '../operation.ts'
import { type Schema, shownOf } from './descriptions.ts'
import { problemExamples } from './examples.ts'
import { everyHeader, type HeaderName, headersOf } from './headers.ts'
import { problemCodes, problemWords, whenOf } from './problem-texts.ts'

type Json = Readonly<Record<string, unknown>>

const codes = Object.keys(statusOf) as ErrorCode[]
const statuses = Object.keys(phraseOf).map(Number) as ErrorStatus[]

function codesOf(status: ErrorStatus): ErrorCode[] {
  return codes.filter((code) => statusOf[code] === status)
}

/** Returns the component name, such as `UnprocessableContent`. */
function nameOf(status: ErrorStatus): string {
  return phraseOf[status].replaceAll(' ', '')
}

const moreHeaders: Readonly<Partial<Record<ErrorStatus, readonly HeaderName[]>>> = {
  401: ['WWW-Authenticate'],
  403: ['WWW-Authenticate'],
  429: ['Retry-After'],
  503: ['Retry-After'],
}

/** No operation has 405, and each describes its own 409. */
const apart: readonly ErrorStatus[] = [405, 409]

/** Under `components/examples`. */
export const problemExampleComponents: Json = Object.fromEntries(
  codes
    .filter((code) => statusOf[code] !== 405)
    .map((code) => [code, { summary: whenOf[code], value: problemExamples[code] }]),
)

/** By status, under `components/responses`. */
export const problemResponses: Json = Object.fromEntries(
  statuses
    .filter((status) => !apart.includes(status))
    .map((status) => [nameOf(status), problemResponse(status, codesOf(status))]),
)

function problemResponse(status: ErrorStatus, possible: readonly ErrorCode[]): Json {
  const list = possible.map((code) => `- \`${code}\`: ${whenOf[code]}`).join('\n')
  return {
    description: `${phraseOf[status]}\n\n${list}`,
    headers: headersOf([...everyHeader, ...(moreHeaders[status] ?? [])]),
    content: {
      'application/problem+json': {
        schema: { $ref: '#/components/schemas/Problem' },
        examples: Object.fromEntries(
          possible.map((code) => [code, { $ref: `#/components/examples/${code}` }]),
        ),
      },
    },
  }
}

export function refusalsWith(refused: readonly ErrorStatus[]): Json {
  return Object.fromEntries(
    refused.map((status) => [String(status), { $ref: `#/components/responses/${nameOf(status)}` }]),
  )
}

export function refusalsOf(operation: Operation, { hasIfMatch }: { hasIfMatch: boolean }): Json {
  const { id, method, path, scope, body } = operation
  const guarded = scope !== null
  const own = problemCodes[id] ?? []
  const can: Readonly<Record<ErrorStatus, boolean>> = {
    400: true,
    401: guarded,
    403: guarded,
    404: path.includes('{') || own.includes('not_found'),
    405: false,
    408: method !== 'GET',
    409: own.some((code) => statusOf[code] === 409),
    412: hasIfMatch,
    413: method !== 'GET',
    414: true,
    415: body !== undefined,
    421: true,
    422: body !== undefined || method === 'POST',
    429: true,
    431: true,
    500: true,
    503: true,
  }
  return Object.fromEntries(
    statuses
      .filter((status) => can[status])
      .map((status) => {
        const mine = own.filter((code) => statusOf[code] === status)
        return [
          String(status),
          status === 409
            ? problemResponse(status, mine)
            : { $ref: `#/components/responses/${nameOf(status)}` },
        ]
      }),
  )
}

const short = { type: 'string', maxLength: 64 } as const
const path = { type: 'string', maxLength: 8192 } as const
const positive = { type: 'integer', minimum: 1 } as const

const problem: Schema = {
  type: 'object',
  required: ['type', 'title', 'status', 'detail', 'instance', 'code', 'requestId'],
  properties: {
    type: { type: 'string', const: 'about:blank' },
    title: { type: 'string', enum: Object.values(phraseOf) },
    status: { type: 'integer', minimum: 400, maximum: 599 },
    detail: { type: 'string' },
    instance: path,
    code: { type: 'string', enum: codes },
    requestId: short,
    errors: {
      type: 'array',
      items: {
        type: 'object',
        required: ['code', 'detail'],
        properties: { pointer: path, parameter: path, code: short, detail: { type: 'string' } },
      },
    },
    moreErrors: positive,
    id: short,
    existingStatus: short,
    reason: short,
    current: { anyOf: ['Progress', 'Grade'].map((name) => ({ $ref: `#/components/schemas/${name}` })) },
    lease: { $ref: '#/components/schemas/Lease' },
    time: { type: 'string', format: 'date-time' },
    version: positive,
    scope: { type: 'string', enum: ['read', 'write', 'admin'] },
    from: short,
    to: short,
    allowed: { type: 'array', maxItems: 10, items: short },
  },
}

/** Under `components/schemas`. */
export const problemSchema = shownOf(problem, problemWords)
