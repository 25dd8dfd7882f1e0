import { describe, expect, test } from 'vitest'
import { readError } from '../../../src/client/foreign/refusal.ts'

type Told = readonly [detail: string | null, faults?: readonly string[], code?: string]

/** Formats a fault in one line: place, code and text. */
function lines(body: unknown): Told {
  const { detail, faults, code } = readError(body)
  const told = faults.map(
    (fault) => `${fault.parameter ?? fault.pointer ?? '-'} ${fault.code}: ${fault.detail}`,
  )
  return code === null ? [detail, told] : [detail, told, code]
}

const forms: readonly [whose: string, body: unknown, told: Told][] = [
  ['a plain message', { message: 'No such course' }, ['No such course', []]],
  ['a text', 'No such course', ['No such course', []]],
  ['a list of texts', ['Title is required'], ['Title is required', ['- invalid: Title is required']]],
  [
    'problem details',
    { type: 'about:blank', title: 'Conflict', detail: 'It is taken.', code: 'duplicate' },
    ['It is taken.', [], 'duplicate'],
  ],
  [
    'FastAPI',
    {
      detail: [
        { loc: ['body', 'modules', 0, 'title'], msg: 'Field required', type: 'missing' },
        { loc: ['query', 'limit'], msg: 'Input should be less than 100', type: 'less_than' },
      ],
    },
    [null, ['#/modules/0/title missing: Field required', 'limit less_than: Input should be less than 100']],
  ],
  [
    'JSON:API',
    {
      errors: [
        { status: '422', code: 'blank', title: 'Invalid', source: { pointer: '/data/attributes/title' } },
        { status: '422', title: 'Bad', detail: 'must be a number', source: { parameter: 'page' } },
      ],
    },
    [null, ['/title blank: Invalid', 'page invalid: must be a number']],
  ],
  [
    'Google',
    {
      error: {
        code: 400,
        message: 'Invalid value',
        status: 'INVALID_ARGUMENT',
        errors: [{ message: 'Invalid value', domain: 'global', reason: 'invalid_value' }],
      },
    },
    ['Invalid value', ['- invalid_value: Invalid value'], 'INVALID_ARGUMENT'],
  ],
  [
    "Google's details",
    {
      error: {
        message: 'Bad',
        details: [{ '@type': 't/x', fieldViolations: [{ field: 'title', description: 'No' }] }],
      },
    },
    ['Bad', ['#/title invalid: No']],
  ],
  [
    'fields with messages',
    { errors: [{ field: 'external_id', message: 'has been taken' }] },
    ['has been taken', ['#/external_id invalid: has been taken']],
  ],
  [
    'Rails',
    { errors: { title: ["can't be blank", 'is too short'], base: ['is locked'] } },
    [null, ["#/title invalid: can't be blank", '#/title invalid: is too short', '- invalid: is locked']],
  ],
  [
    'Laravel',
    { message: 'The given data was invalid.', errors: { 'profile.first_name': ['The name is required.'] } },
    ['The given data was invalid.', ['#/profile/first_name invalid: The name is required.']],
  ],
  [
    'Django',
    { title: ['This field is required.'], non_field_errors: ['No.'] },
    [null, ['#/title invalid: This field is required.', '- invalid: No.']],
  ],
  [
    'Nest',
    { statusCode: 400, message: ['title must be a string', 'email is wrong'], error: 'Bad Request' },
    ['Bad Request', ['- invalid: title must be a string', '- invalid: email is wrong']],
  ],
  [
    'Mongoose',
    { errors: { title: { message: 'Path `title` is required.', kind: 'required', path: 'title' } } },
    ['Path `title` is required.', ['#/title invalid: Path `title` is required.']],
  ],
  [
    'zod',
    {
      success: false,
      error: { name: 'ZodError', issues: [{ code: 'too_small', path: ['title'], message: 'Short' }] },
    },
    ['Short', ['#/title too_small: Short']],
  ],
  [
    'Symfony',
    { detail: 'Invalid', violations: [{ propertyPath: 'modules[0].title', message: 'Blank' }] },
    ['Invalid', ['#/modules/0/title invalid: Blank']],
  ],
  [
    'parameters by name (RFC 9457 §3)',
    { title: 'Invalid', 'invalid-params': [{ name: 'age', reason: 'must be positive' }] },
    ['Invalid', ['#/age invalid: must be positive']],
  ],
  ['OAuth', { error: 'invalid_grant', error_description: 'Too late' }, ['Too late', [], 'invalid_grant']],
  ['Apigee', { fault: { faultstring: 'Over quota', detail: { errorcode: 'x' } } }, ['Over quota', []]],
  ['nothing', {}, [null, []]],
  ['null', null, [null, []]],
  ['no words at all', { errors: [1, null, [], {}], message: 7 }, [null, []]],
]

describe('the error of another platform is read in the form of', () => {
  test.for(forms)('%s', ([, body, told]) => {
    expect(lines(body)).toEqual(told)
  })
})

test('a text without an end is cut, and a form within itself is left', () => {
  const { detail } = readError({ message: 'x'.repeat(100_000) })
  expect(detail).toHaveLength(1001)
  let deep: unknown = 'down here'
  for (let depth = 0; depth < 10_000; depth += 1) deep = { error: deep, errors: [deep] }
  expect(readError(deep)).toMatchObject({ detail: null })
})
