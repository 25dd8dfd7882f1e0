import { describe, expect, test } from 'vitest'
import { moodleRecords } from '../../src/lms/moodle-records.ts'
import type { RecordQuestion } from '../../src/lms/records.ts'

const courses: RecordQuestion = { part: 'courses', of: null, position: null }
const groups: RecordQuestion = { part: 'groups', of: '7', position: null }

function read(error: object, question = courses) {
  return moodleRecords.read({ status: 200, headers: {}, body: JSON.stringify(error) }, question)
}

const expired = (code: string) => ({
  refusal: 'token',
  detail: `the access token is not accepted (${code}); it may have expired`,
})
const forbidden = (code: string) => ({
  refusal: 'permission',
  detail: `the token may not call core_course_get_courses (${code})`,
})

describe('an error of Moodle, which has status 200, refuses the list of courses', () => {
  test.for([
    ['invalidtoken', expired('invalidtoken')],
    ['invalidtimedtoken', expired('invalidtimedtoken')],
    ['usernotfullysetup', expired('usernotfullysetup')],
    ['sitemaintenance', { refusal: 'busy', detail: 'it is under maintenance', retryAfter: 60 }],
    [
      'accessexception',
      {
        refusal: 'permission',
        detail: 'the web service of the token lacks the function core_course_get_courses',
      },
    ],
    ['nopermissions', forbidden('nopermissions')],
    ['required_capability_exception', forbidden('required_capability_exception')],
    ['requireloginerror', forbidden('requireloginerror')],
    ['dmlreadexception', { refusal: 'answer', detail: 'core_course_get_courses failed (dmlreadexception)' }],
  ] as const)('%s', ([errorcode, refusal]) => {
    expect(read({ exception: 'moodle_exception', errorcode, message: 'No' })).toEqual(refusal)
  })

  test('an exception of PHP, without a code', () => {
    expect(read({ exception: 'TypeError', message: 'must be of type int' })).toEqual({
      refusal: 'answer',
      detail: 'core_course_get_courses failed (TypeError)',
    })
  })
})

test('groups that the token may not see are noted, and the rest is read', () => {
  const text =
    'a list is not visible to this token: core_group_get_course_groups is not allowed (nopermissions)'
  expect(read({ exception: 'moodle_exception', errorcode: 'nopermissions' }, groups)).toEqual({
    records: [],
    next: null,
    notes: [{ text, count: 1, hides: 'groups' }],
  })
})
