import { expect } from 'vitest'
import { CourseInput } from '../../src/contract/courses.ts'
import { operations } from '../../src/contract/index.ts'
import type { RoleName, Scope } from '../../src/contract/operation.ts'
import { grantable } from '../../src/server/access/principal.ts'
import { textOf } from '../docs.ts'
import { test } from '../helpers/academy.ts'

const roles: readonly RoleName[] = ['admin', 'instructor', 'analyst', 'learner']

const scopeSets: readonly (readonly Scope[])[] = [
  ['read'],
  ['write'],
  ['admin'],
  ['read', 'write'],
  ['read', 'write', 'admin'],
]

/**
 * Rights of each role and scope, written down, not derived. For each role a mark for each set of scopes above: +
 * allowed, s the scope is missing, r the role does not allow it,
 * which is said as well where no credential of the role could have the scope. A credential never has more scopes than its owner's
 * role: an analyst's never has write.
 */
const golden = `
                                                          admin  instr. analyst learner
GET    /v1/courses                                        +ss++  +ss++  +ss++  +ss++
GET    /v1/courses/{courseId}                             +ss++  +ss++  +ss++  +ss++
POST   /v1/courses                                        s+s++  s+s++  rrrrr  srsrr
PUT    /v1/courses/{courseId}                             s+s++  s+s++  rrrrr  srsrr
DELETE /v1/courses/{courseId}                             s+s++  s+s++  rrrrr  srsrr
GET    /v1/courses/{courseId}/versions                    +ss++  +ss++  +ss++  rssrr
GET    /v1/courses/{courseId}/versions/{version}          +ss++  +ss++  +ss++  rssrr
GET    /v1/courses/{courseId}/versions/{version}/diff     +ss++  +ss++  +ss++  rssrr
POST   /v1/courses/{courseId}/versions/{version}/restore  s+s++  s+s++  rrrrr  srsrr
GET    /v1/deleted-courses                                +ss++  +ss++  rssrr  rssrr
POST   /v1/deleted-courses/{deletedCourseId}/restore             s+s++  s+s++  rrrrr  srsrr
GET    /v1/lessons                                        +ss++  +ss++  +ss++  +ss++
GET    /v1/lessons/{lessonId}                             +ss++  +ss++  +ss++  +ss++
POST   /v1/lessons                                        s+s++  s+s++  rrrrr  srsrr
PUT    /v1/lessons/{lessonId}                             s+s++  s+s++  rrrrr  srsrr
DELETE /v1/lessons/{lessonId}                             s+s++  s+s++  rrrrr  srsrr
GET    /v1/lessons/{lessonId}/versions                    +ss++  +ss++  +ss++  rssrr
GET    /v1/lessons/{lessonId}/versions/{version}          +ss++  +ss++  +ss++  rssrr
GET    /v1/lessons/{lessonId}/versions/{version}/diff     +ss++  +ss++  +ss++  rssrr
POST   /v1/lessons/{lessonId}/versions/{version}/restore  s+s++  s+s++  rrrrr  srsrr
GET    /v1/deleted-lessons                                +ss++  +ss++  rssrr  rssrr
POST   /v1/deleted-lessons/{deletedLessonId}/restore             s+s++  s+s++  rrrrr  srsrr
GET    /v1/users                                          +ss++  +ss++  +ss++  +ss++
GET    /v1/users/{userId}                                 +ss++  +ss++  +ss++  +ss++
POST   /v1/users                                          s+s++  s+s++  rrrrr  srsrr
POST   /v1/users/batch                                    s+s++  s+s++  rrrrr  srsrr
PUT    /v1/users/{userId}                                 s+s++  srsrr  rrrrr  srsrr
DELETE /v1/users/{userId}                                 s+s++  srsrr  rrrrr  srsrr
GET    /v1/users/{userId}/data                            ss+s+  rrrrr  rrrrr  rrrrr
GET    /v1/user/profile                                   +ss++  +ss++  +ss++  +ss++
PUT    /v1/user/profile                                   s+s++  s+s++  sssss  s+s++
GET    /v1/terms                                          +ss++  +ss++  +ss++  +ss++
GET    /v1/terms/{termId}                                 +ss++  +ss++  +ss++  +ss++
POST   /v1/terms                                          s+s++  srsrr  rrrrr  srsrr
POST   /v1/terms/batch                                    s+s++  srsrr  rrrrr  srsrr
PUT    /v1/terms/{termId}                                 s+s++  srsrr  rrrrr  srsrr
DELETE /v1/terms/{termId}                                 s+s++  srsrr  rrrrr  srsrr
GET    /v1/enrollments                                    +ss++  +ss++  +ss++  +ss++
GET    /v1/enrollments/{enrollmentId}                     +ss++  +ss++  +ss++  +ss++
POST   /v1/enrollments                                    s+s++  s+s++  rrrrr  srsrr
POST   /v1/enrollments/batch                              s+s++  s+s++  rrrrr  srsrr
PUT    /v1/enrollments/{enrollmentId}                     s+s++  s+s++  rrrrr  srsrr
DELETE /v1/enrollments/{enrollmentId}                     s+s++  s+s++  rrrrr  srsrr
GET    /v1/groups                                         +ss++  +ss++  +ss++  +ss++
GET    /v1/groups/{groupId}                               +ss++  +ss++  +ss++  +ss++
POST   /v1/groups                                         s+s++  s+s++  rrrrr  srsrr
POST   /v1/groups/batch                                   s+s++  s+s++  rrrrr  srsrr
PUT    /v1/groups/{groupId}                               s+s++  s+s++  rrrrr  srsrr
DELETE /v1/groups/{groupId}                               s+s++  s+s++  rrrrr  srsrr
GET    /v1/deleted-groups                                 +ss++  +ss++  rssrr  rssrr
POST   /v1/deleted-groups/{deletedGroupId}/restore               s+s++  s+s++  rrrrr  srsrr
GET    /v1/groups/{groupId}/members                       +ss++  +ss++  +ss++  +ss++
PUT    /v1/groups/{groupId}/members/{userId}              s+s++  s+s++  rrrrr  srsrr
DELETE /v1/groups/{groupId}/members/{userId}              s+s++  s+s++  rrrrr  srsrr
GET    /v1/memberships                                    +ss++  +ss++  +ss++  +ss++
POST   /v1/memberships/batch                              s+s++  s+s++  rrrrr  srsrr
GET    /v1/learners/{learnerId}/progress                  +ss++  +ss++  +ss++  +ss++
PUT    /v1/learners/{learnerId}/progress                  s+s++  s+s++  rrrrr  s+s++
GET    /v1/learners/{learnerId}/progress/history          +ss++  +ss++  +ss++  +ss++
GET    /v1/progress                                       +ss++  +ss++  +ss++  +ss++
GET    /v1/progress/history                               +ss++  +ss++  +ss++  +ss++
POST   /v1/progress/batch                                 s+s++  s+s++  rrrrr  srsrr
GET    /v1/grades                                         +ss++  +ss++  +ss++  +ss++
GET    /v1/grades/{gradeId}                               +ss++  +ss++  +ss++  +ss++
PUT    /v1/grades                                         s+s++  s+s++  rrrrr  srsrr
DELETE /v1/grades/{gradeId}                               s+s++  s+s++  rrrrr  srsrr
GET    /v1/grades/{gradeId}/history                       +ss++  +ss++  +ss++  +ss++
POST   /v1/grades/batch                                   s+s++  s+s++  rrrrr  srsrr
GET    /v1/gradebooks/{courseId}                            +ss++  +ss++  +ss++  rssrr
GET    /v1/analytics/learners                             +ss++  +ss++  +ss++  rssrr
GET    /v1/analytics/at-risk                              +ss++  +ss++  +ss++  rssrr
GET    /v1/analytics/activity                             +ss++  +ss++  +ss++  rssrr
GET    /v1/analytics/grades                               +ss++  +ss++  +ss++  rssrr
GET    /v1/analytics/rows                                 +ss++  rssrr  +ss++  rssrr
GET    /v1/analytics/changes                              +ss++  rssrr  +ss++  rssrr
GET    /v1/analytics/report                               +ss++  +ss++  +ss++  rssrr
GET    /v1/analytics/statements                           +ss++  +ss++  +ss++  rssrr
POST   /v1/analytics/statements/backfill                  ss+s+  rrrrr  rrrrr  rrrrr
GET    /v1/calendars                                      ss+s+  rrrrr  rrrrr  rrrrr
POST   /v1/calendars                                      ss+s+  rrrrr  rrrrr  rrrrr
DELETE /v1/calendars/{calendarId}                         ss+s+  rrrrr  rrrrr  rrrrr
GET    /v1/keys                                           ss+s+  rrrrr  rrrrr  rrrrr
POST   /v1/keys                                           ss+s+  rrrrr  rrrrr  rrrrr
DELETE /v1/keys/{keyId}                                   ss+s+  rrrrr  rrrrr  rrrrr
GET    /v1/apps                                           ss+s+  rrrrr  rrrrr  rrrrr
POST   /v1/apps                                           ss+s+  rrrrr  rrrrr  rrrrr
DELETE /v1/apps/{clientId}                                ss+s+  rrrrr  rrrrr  rrrrr
GET    /v1/webhooks/endpoints                             ss+s+  rrrrr  rrrrr  rrrrr
GET    /v1/webhooks/endpoints/{endpointId}                ss+s+  rrrrr  rrrrr  rrrrr
POST   /v1/webhooks/endpoints                             ss+s+  rrrrr  rrrrr  rrrrr
PUT    /v1/webhooks/endpoints/{endpointId}                ss+s+  rrrrr  rrrrr  rrrrr
DELETE /v1/webhooks/endpoints/{endpointId}                ss+s+  rrrrr  rrrrr  rrrrr
POST   /v1/webhooks/endpoints/{endpointId}/rotate         ss+s+  rrrrr  rrrrr  rrrrr
POST   /v1/webhooks/endpoints/{endpointId}/test           ss+s+  rrrrr  rrrrr  rrrrr
GET    /v1/webhooks/messages                              ss+s+  rrrrr  rrrrr  rrrrr
GET    /v1/webhooks/messages/{messageId}                  ss+s+  rrrrr  rrrrr  rrrrr
POST   /v1/webhooks/messages/{messageId}/resend           ss+s+  rrrrr  rrrrr  rrrrr
GET    /v1/webhooks/deliveries                            ss+s+  rrrrr  rrrrr  rrrrr
GET    /v1/webhooks/deliveries/{deliveryId}               ss+s+  rrrrr  rrrrr  rrrrr
POST   /v1/webhooks/deliveries/{deliveryId}/replay        ss+s+  rrrrr  rrrrr  rrrrr
POST   /v1/webhooks/deliveries/replay                     ss+s+  rrrrr  rrrrr  rrrrr
GET    /v1/grants                                         +ss++  +ss++  +ss++  +ss++
DELETE /v1/grants/{grantId}                               s+s++  s+s++  sssss  s+s++
GET    /v1/integrations                                   ss+s+  rrrrr  rrrrr  rrrrr
GET    /v1/integrations/{lmsKind}                         ss+s+  rrrrr  rrrrr  rrrrr
PUT    /v1/integrations/{lmsKind}                         ss+s+  rrrrr  rrrrr  rrrrr
DELETE /v1/integrations/{lmsKind}                         ss+s+  rrrrr  rrrrr  rrrrr
POST   /v1/integrations/{lmsKind}/test                    ss+s+  rrrrr  rrrrr  rrrrr
GET    /v1/integrations/{lmsKind}/records                 ss+s+  rrrrr  rrrrr  rrrrr
POST   /v1/integrations/{lmsKind}/records                 ss+s+  rrrrr  rrrrr  rrrrr
GET    /v1/integrations/{lmsKind}/mappings                ss+s+  rrrrr  rrrrr  rrrrr
GET    /v1/integrations/{lmsKind}/mappings/{mappingId}           ss+s+  rrrrr  rrrrr  rrrrr
PUT    /v1/integrations/{lmsKind}/mappings                ss+s+  rrrrr  rrrrr  rrrrr
POST   /v1/integrations/{lmsKind}/mappings/batch          ss+s+  rrrrr  rrrrr  rrrrr
DELETE /v1/integrations/{lmsKind}/mappings/{mappingId}           ss+s+  rrrrr  rrrrr  rrrrr
GET    /v1/changes                                        +ss++  +ss++  rssrr  rssrr
POST   /v1/changes                                        s+s++  s+s++  rrrrr  srsrr
GET    /v1/changes/{changeId}                             +ss++  +ss++  rssrr  rssrr
POST   /v1/changes/{changeId}/end                         s+s++  s+s++  rrrrr  srsrr
GET    /v1/changes/{changeId}/records                     +ss++  +ss++  rssrr  rssrr
POST   /v1/plans                                          s+s++  s+s++  rrrrr  srsrr
DELETE /v1/plans/{planId}                                 s+s++  s+s++  rrrrr  srsrr
PUT    /v1/plans/{planId}/steps/{stepNumber}              s+s++  s+s++  rrrrr  srsrr
POST   /v1/plans/{planId}/carry-out                       s+s++  s+s++  rrrrr  srsrr
GET    /v1/undo/{changeId}                                +ss++  +ss++  rssrr  rssrr
POST   /v1/undo/{changeId}                                s+s++  s+s++  rrrrr  srsrr
GET    /v1/settings                                       ss+s+  rrrrr  rrrrr  rrrrr
PUT    /v1/settings                                       ss+s+  rrrrr  rrrrr  rrrrr
PUT    /v1/apply-lease                                    s+s++  s+s++  rrrrr  srsrr
DELETE /v1/apply-lease/{leaseId}                          s+s++  s+s++  rrrrr  srsrr
GET    /v1/audit                                          ss+s+  rrrrr  rrrrr  rrrrr
GET    /v1/audit/{entryId}                                ss+s+  rrrrr  rrrrr  rrrrr
DELETE /v1/courses/none?force=true                        ssss+  srsrr  rrrrr  srsrr
DELETE /v1/courses/none?erase=true                        ssss+  srsrr  rrrrr  srsrr
DELETE /v1/lessons/none?erase=true                        ssss+  srsrr  rrrrr  srsrr
DELETE /v1/groups/none?erase=true                         ssss+  srsrr  rrrrr  srsrr
DELETE /v1/users/none?erase=true                          ssss+  srsrr  rrrrr  srsrr
`

const outcomes = { '+': 'allowed', s: 'insufficient_scope', r: 'forbidden' } as const

const rows = golden
  .trim()
  .split('\n')
  .slice(1)
  .map((line) => {
    const [method = '', target = '', ...marks] = line.split(/ +/)
    return { method, target, marks }
  })

test('the table has every operation that takes a credential, and no other', () => {
  const declared = operations
    .filter(({ scope }) => scope !== null)
    .map(({ method, path }) => `${method} ${path}`)
  const written = rows
    .filter(({ target }) => !target.includes('?'))
    .map(({ method, target }) => `${method} ${target}`)
  expect(written.sort()).toEqual(declared.sort())
})

test.for(roles.map((role, index) => ({ role, index })))(
  'the rights of the role $role are those of the table, whatever the scopes',
  async ({ role, index }, { academy }) => {
    const people = await Promise.all(scopeSets.map((scopes) => academy.person(role, scopes)))
    for (const { method, target, marks } of rows) {
      // Rights are checked first: only an allowed caller learns about the parameter or the missing record.
      const path = target.includes('?') ? target : `${target.replaceAll(/\{\w+\}/g, 'none')}?colour=red`
      const answers = await Promise.all(people.map((person) => person.send(method, path)))
      const actual = answers.map(({ status, body }) => ([400, 404].includes(status) ? 'allowed' : body.code))
      const expected = [...(marks[index] ?? '')].map((mark) => outcomes[mark as keyof typeof outcomes])
      expect(actual, `${method} ${target}`).toEqual(expected)
    }
  },
)

test('a missing scope is named in WWW-Authenticate', async ({ academy }) => {
  const reader = await academy.person('admin', ['read'])
  const answer = await reader.post('/v1/courses', { title: 'Logic' })
  expect(answer).toMatchObject({ status: 403, body: { code: 'insufficient_scope', scope: 'write' } })
  expect(answer.headers.get('www-authenticate')).toBe(
    'Bearer realm="learnctl", error="insufficient_scope", scope="write", resource_metadata="http://localhost/.well-known/oauth-protected-resource"',
  )
})

test.for(['suspended', 'deleted'])(
  'a credential of a user who is %s is not known',
  async (status, { admin, instructor }) => {
    await admin.put(`/v1/users/${instructor.id}`, { status })
    expect(await instructor.get('/v1/courses')).toMatchObject({
      status: 401,
      body: { code: 'invalid_token' },
    })
  },
)

test('docs/concepts.md has the scopes of each role, and every moveOn', () => {
  const text = textOf('docs/concepts.md')
  for (const [role, scopes] of Object.entries(grantable)) {
    expect(text).toContain(`| ${role} | ${scopes.map((scope) => `\`${scope}\``).join(' ')} |`)
  }
  const { options } = CourseInput.shape.assessmentCriteria.unwrap().shape.moveOn.unwrap()
  for (const moveOn of options) expect(text).toMatch(new RegExp(`^\\| \`${moveOn}\``, 'm'))
})
