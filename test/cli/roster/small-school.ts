import { expect } from 'vitest'
import type { TestCli } from '../../helpers/cli.ts'

/** People, courses, enrolments and grades of a small school, as an academy file. */
const academy = `learnctl: 1
users:
  - {externalId: u1, email: ada@b.example, username: ada, profile: {firstName: Ada, lastName: Lovelace, displayName: Countess Ada}}
  - {externalId: u2, email: Bob@b.example, role: instructor, profile: {firstName: Bob, lastName: 'O''Neil, Jr.'}}
  - {externalId: u3, email: cy@b.example, status: suspended, profile: {firstName: '=1+1', lastName: "two\\nlines"}}
  - {externalId: u4, email: dee@b.example, profile: {displayName: Dee Dee}}
  - {externalId: u5, email: eve@b.example}
  - {externalId: u6, email: an@b.example, role: analyst}
  - {externalId: u7, email: boss@b.example, role: admin}
courses:
  - externalId: BIO
    title: 'Biology, "marine"'
    status: published
    description: About the sea
    assessmentCriteria: {weights: [{name: Exam, weight: 60}, {name: Essay, weight: 40}]}
    lessons: [{title: Tides}]
  - {externalId: ART, title: Art}
enrollments:
  - {courseId: BIO, userId: u1, enrolledAt: 2026-01-10}
  - {courseId: BIO, userId: u2, role: instructor, enrolledAt: 2026-01-09}
  - {courseId: BIO, userId: u3, status: inactive, enrolledAt: 2026-01-11}
  - {courseId: ART, userId: u4, enrolledAt: 2026-01-12}
  - {courseId: ART, userId: u7, role: instructor, enrolledAt: 2026-01-12}
grades:
  - {courseId: BIO, learnerId: u1, itemId: exam-1, label: Exam, scoreGiven: 17, scoreMaximum: 20, gradedAt: 2026-02-01}
  - {courseId: BIO, learnerId: u1, itemId: quiz, scoreGiven: 5, published: false, gradedAt: 2026-02-01}
  - {courseId: BIO, learnerId: u1, scoreGiven: 80, gradedAt: 2026-02-02}
  - {courseId: ART, learnerId: u4, scoreGiven: 90, gradedAt: 2026-02-03}
`

/** Terms, groups and members, as requests. */
const requests = [
  [
    'POST',
    '/v1/terms',
    { externalId: 'T1', name: 'Autumn 2025', startDate: '2025-09-01', endDate: '2026-01-31' },
  ],
  ['POST', '/v1/terms', { externalId: 'T2', name: 'Open' }],
  ['PUT', '/v1/courses/ext:BIO', { termId: 'ext:T1' }],
  ['POST', '/v1/groups', { externalId: 'G1', name: '5b', courseId: 'ext:BIO' }],
  ['POST', '/v1/groups', { externalId: 'G2', name: '5c', courseId: 'ext:BIO' }],
  ['POST', '/v1/groups', { externalId: 'K1', name: 'Choir' }],
  ['PUT', '/v1/groups/ext:G1/members/ext:u1'],
  ['PUT', '/v1/groups/ext:G2/members/ext:u1'],
  ['PUT', '/v1/groups/ext:G1/members/ext:u3'],
  ['PUT', '/v1/groups/ext:K1/members/ext:u4'],
] as const

/** Makes a small school: two terms, two courses, groups, and people of all roles and statuses. */
export async function makeSmallSchool(cli: TestCli): Promise<void> {
  const applied = await cli.run('apply - --yes', { stdin: academy })
  expect(applied, applied.stderr).toMatchObject({ code: 0 })
  for (const [method, path, body] of requests) {
    const sent = await cli.run(['api', method, path, '--body', '-'], { stdin: JSON.stringify(body ?? {}) })
    expect(sent, sent.stderr).toMatchObject({ code: 0 })
  }
}
