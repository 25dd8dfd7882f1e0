import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { type LmsKind, lmsKinds } from '../../src/contract/constants.ts'
import { fixedKeys } from '../../src/lms/canvas-signature.ts'
import { DeliveryFault, parsePayload } from '../../src/lms/delivery.ts'
import type { LmsEvent } from '../../src/lms/event.ts'
import { readEvent } from '../../src/lms/kinds.ts'
import { verify } from '../../src/lms/verify.ts'
import { randomRuns } from '../helpers/random.ts'
import { plainSettings, sampleText } from './samples.ts'

const samples: Readonly<Record<LmsKind, readonly string[]>> = {
  canvas: [
    'canvas.grade_change',
    'canvas.caliper_grade.composed',
    'canvas.course_grade_change.composed',
    'canvas.course_progress',
    'canvas.course_completed',
  ],
  moodle: ['moodle_local_webhooks.user_graded.composed'],
  openedx: ['openedx_webhooks_plugin.grade.composed'],
  thinkific: ['thinkific.enrollment.progress'],
  classroom: ['standard.grade_updated.composed'],
  oneroster: ['standard.grade_updated.composed'],
  standard: ['standard.grade_updated.composed'],
}

/** Values that are unexpected in most places, as text; some are invalid JSON. */
const oddTexts = [
  ...String.raw`NaN Infinity -Infinity 1e400 -1e400 1e300 -1 0 -0 1.5 21070000000000048 123456789012345678901234567890
    "" "\u0000" "\ud800" "1e5" "0x10" "NaN" "85,5" null true [] {} [[]] {"__proto__":{"a":1}}
    {"constructor":{"prototype":{}}} "__proto__" "9999-12-31T23:59:59Z" "10000-01-01T00:00:00Z"
    "2026-02-30T00:00:00Z" 253402300800 -62167219201`.split(/\s+/),
  '" "',
  `"${'x'.repeat(300)}"`,
  `"${'x'.repeat(100_000)}"`,
  `${'['.repeat(100)}${']'.repeat(100)}`,
  `[${'0,'.repeat(2000)}0]`,
]

/** Replaces the values of some members in the text of a sample. */
const oddSample = fc
  .tuple(
    fc.constantFrom(...lmsKinds.flatMap((kind) => samples[kind].map((name) => [kind, name] as const))),
    fc.array(fc.tuple(fc.nat(), fc.oneof(fc.constantFrom(...oddTexts), fc.json({ maxDepth: 4 }))), {
      minLength: 1,
      maxLength: 4,
    }),
  )
  .map(([[kind, name], changes]) => ({
    kind,
    bytes: Buffer.from(changes.reduce(replaced, sampleText(name))),
  }))
const anyBytes = fc.record({
  kind: fc.constantFrom(...lmsKinds),
  bytes: fc.oneof(
    fc.uint8Array({ maxLength: 200 }),
    fc.json().map((text) => Buffer.from(text)),
  ),
})

function replaced(text: string, [at, value]: readonly [number, string]): string {
  const members = [...text.matchAll(/(?<=": )("(?:[^"\\\n]|\\.)*"|[^\s[{,]+)/g)]
  const member = members[at % members.length]
  return member ? text.slice(0, member.index) + value + text.slice(member.index + member[0].length) : text
}

/** Returns the event of a delivery, or null if it is malformed. Any other error is a bug. */
function meaning(kind: LmsKind, bytes: Uint8Array): LmsEvent | null {
  try {
    return readEvent(kind, parsePayload(bytes), plainSettings)
  } catch (error) {
    if (error instanceof DeliveryFault && error.code === 'malformed_payload') return null
    throw error
  }
}

function assertSound(event: LmsEvent): void {
  expect(event.name.length).toBeLessThanOrEqual(255)
  if (event.type === 'ignored') return
  for (const names of [event.course, event.learner]) {
    expect(names.length).toBeGreaterThan(0)
    for (const { value } of names) {
      expect(value.length).toBeGreaterThan(0)
      expect(value.length).toBeLessThanOrEqual(255)
    }
  }
  const time = event.type === 'grade' ? event.gradedAt : event.at
  expect(time).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
  if (event.type === 'progress') {
    expect(event.percentage).toBeGreaterThanOrEqual(0)
    expect(event.percentage).toBeLessThanOrEqual(100)
    return
  }
  expect(event.scoreGiven ?? 0).toBeGreaterThanOrEqual(0)
  expect(event.scoreGiven ?? 0).toBeLessThanOrEqual(1_000_000)
  expect(event.scoreMaximum).toBeGreaterThan(0)
  expect(event.scoreMaximum).toBeLessThanOrEqual(1_000_000)
  expect(event.itemId.length).toBeGreaterThan(0)
  expect(event.itemId.length).toBeLessThanOrEqual(255)
  expect(event.label.length).toBeLessThanOrEqual(255)
}

test('a payload with odd values, or of any bytes, means something sound or is malformed', {
  tags: ['slow'],
}, () => {
  const seen = { sound: 0, malformed: 0 }
  const runs = randomRuns(100, 300)
  fc.assert(
    fc.property(fc.oneof({ weight: 4, arbitrary: oddSample }, anyBytes), ({ kind, bytes }) => {
      const event = meaning(kind, bytes)
      if (event) assertSound(event)
      seen[event ? 'sound' : 'malformed'] += 1
    }),
    { numRuns: runs },
  )
  // Both outcomes must occur often.
  expect(Math.min(seen.sound, seen.malformed)).toBeGreaterThan(runs / 15)
})

test('any delivery is authentic or refused, and nothing else happens', async () => {
  const headerNames = ['webhook-id', 'webhook-timestamp', 'webhook-signature', 'authorization']
  const header = fc.oneof(
    fc.string({ maxLength: 60 }),
    fc.constantFrom('v1,', 'v1,AAAA', 'Basic ', '1', '__proto__'),
  )
  const jwtLike = fc
    .tuple(fc.json(), fc.json(), fc.string())
    .map((parts) => parts.map((part) => Buffer.from(part).toString('base64url')).join('.'))
  const outcomes = new Set<string>()
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...lmsKinds),
      fc.dictionary(fc.constantFrom(...headerNames, 'x-thinkific-hmac-sha256'), header),
      fc.oneof(fc.json(), jwtLike, fc.constantFrom('""', '..', '"..."')),
      fc.array(fc.tuple(fc.constant('token'), fc.string()), { maxLength: 2 }),
      async (kind, headers, text, query) => {
        const delivery = { headers, query: new URLSearchParams(query), rawBody: Buffer.from(text) }
        const trust = {
          secrets: ['a-secret-of-both'],
          rootAccountUuid: 'school',
          keys: fixedKeys('{"keys":[]}'),
          now: 0,
        }
        const outcome = await verify(kind, delivery, trust).then(
          () => 'authentic',
          (error: unknown) => (error instanceof DeliveryFault ? error.code : String(error)),
        )
        outcomes.add(outcome)
      },
    ),
    { numRuns: randomRuns(50, 300) },
  )
  expect([...outcomes]).toEqual(['invalid_signature'])
})

test.for([
  ['nested 33 levels deep', `${'{"a":'.repeat(33)}1${'}'.repeat(33)}`],
  ['nested 50,000 levels deep', '{"a":'.repeat(50_000)],
  ['of 1,001 members', JSON.stringify({ a: Array.from({ length: 1001 }, () => 0) })],
  ['with half a character', '{"a":"\\ud800"}'],
  ['with U+0000', '{"a":"\\u0000"}'],
  ['with a number beyond all', '{"a":1e400}'],
] as const)('a payload %s is malformed', ([, text]) => {
  expect(() => parsePayload(Buffer.from(text))).toThrow(DeliveryFault)
})

test('no payload gives an object another prototype', () => {
  const body = parsePayload(Buffer.from('{"__proto__":{"type":"grade.updated"},"data":{}}'))
  expect(() => readEvent('standard', body, plainSettings)).toThrow('type is required')
  expect(Object.prototype).not.toHaveProperty('type')
})
