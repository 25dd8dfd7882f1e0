import { describe, expect } from 'vitest'
import { type TestCli, test } from '../../helpers/cli.ts'
import type { FakeClassroom } from '../../helpers/fake-classroom.ts'
import { signedIn } from '../../helpers/integration-source.ts'
import { ran } from '../../helpers/result.ts'

/** Biology with Ada and Bob, taught by Cleo, and Chemistry with Bob; Biology has a quiz that is graded. */
async function school(cli: TestCli): Promise<FakeClassroom> {
  const fake = await signedIn(cli)
  const [ada, bob, cleo] = ['ada.lovelace', 'bob.smith', 'cleo.jones'].map((name) =>
    fake.addUser(`${name}@school.example`),
  )
  const biology = fake.addCourse('Biology', { alias: 'd:BIO-101' })
  const chemistry = fake.addCourse('Chemistry', { state: 'ARCHIVED' })
  biology.students.push(ada?.id ?? '', bob?.id ?? '')
  biology.teachers.push(cleo?.id ?? '')
  chemistry.students.push(bob?.id ?? '')
  const quiz = fake.addWork(biology, 'Quiz', 20)
  Object.assign(fake.submission(biology, quiz, 'ada.lovelace@school.example'), {
    ...{ draftGrade: 18, assignedGrade: 17, state: 'RETURNED' },
  })
  Object.assign(fake.submission(biology, quiz, 'bob.smith@school.example'), { draftGrade: 12 })
  const essay = fake.addWork(biology, 'Essay')
  Object.assign(fake.submission(biology, essay, 'bob.smith@school.example'), { draftGrade: 1 })
  return fake
}

describe('a Classroom', () => {
  test('is validated as a roster, page by page, with the alias of a course as its external id', async ({
    local,
  }) => {
    const fake = await school(local)
    fake.pageSize = 1
    const { stderr } = await ran(local, 'roster validate integration:classroom')
    expect(stderr).toContain(
      'integration:classroom is valid: Google Classroom with 4 users, 2 courses, 6 enrolments',
    )
    const paths = new Set(
      fake.requests.map(({ method, path }) => `${method} ${path.replaceAll(/\d{4,}/g, '…')}`),
    )
    expect([...paths]).toEqual([
      'GET /v1/courses',
      'GET /v1/courses/…/aliases',
      'GET /v1/courses/…/students',
      'GET /v1/courses/…/teachers',
      'GET /v1/invitations',
    ])
    // One grant serves all requests.
    expect(fake.grants).toHaveLength(1)
  })

  test('is applied to an academy with its grades, which then is equal', { tags: ['slow'] }, async ({
    local,
  }) => {
    await school(local)
    const parts = '--only users,courses,enrollments,grades'
    await ran(local, `roster apply integration:classroom ${parts} --yes`)
    const { stdout } = await ran(local, `roster diff integration:classroom ${parts}`)
    expect(stdout).toMatch(/^No changes/)
    const course = JSON.parse((await ran(local, 'courses get ext:BIO-101 -o json')).stdout)
    expect(course).toMatchObject({ title: 'Biology', status: 'published', managedBy: 'roster:classroom' })
    const listed = JSON.parse((await ran(local, 'grades list --course ext:BIO-101 -o json')).stdout)
    const grades = listed.map((one: Record<string, unknown>) => [one['scoreGiven'], one['published']])
    expect(grades.toSorted()).toEqual([
      [12, false],
      [17, true],
    ])
    expect(listed[0]).toMatchObject({ label: 'Quiz', scoreMaximum: 20 })
  })

  test('gives its grades to people with the same e-mail address', { tags: ['slow'] }, async ({ local }) => {
    await school(local)
    for (const name of ['ada.lovelace', 'bob.smith']) {
      await ran(local, `users create --email ${name}@school.example --role learner`)
      if (name === 'ada.lovelace') await ran(local, 'courses create --title Biology --external-id BIO-101')
      await ran(local, `enrollments create --course ext:BIO-101 --user email:${name}@school.example`)
    }
    await ran(local, 'grades import --from classroom --yes')
    const listed = JSON.parse((await ran(local, 'grades list --course ext:BIO-101 -o json')).stdout)
    const grades = listed.map((one: Record<string, unknown>) => [
      one['scoreGiven'],
      one['label'],
      one['source'],
    ])
    expect(grades.toSorted()).toEqual([
      [12, 'Quiz', 'classroom'],
      [17, 'Quiz', 'classroom'],
    ])
  })

  test('says what the account does not see, and takes nothing away for it', { tags: ['slow'] }, async ({
    local,
  }) => {
    const fake = await school(local)
    await ran(local, 'roster apply integration:classroom --yes')
    const dan = fake.addUser('dan@school.example', { isHidden: true })
    const [chemistry, biology] = fake.courses
    fake.invitations.push({ id: 'inv1', courseId: biology?.id ?? '', userId: dan.id, role: 'STUDENT' })
    fake.fail('GET', new RegExp(`/courses/${chemistry?.id}/students`), 403, { times: 9 })
    const { stderr } = await ran(local, 'roster diff integration:classroom --prune')
    expect(stderr).toContain('Google Classroom: a course does not show its people to this account')
    expect(stderr).toContain('Google Classroom: a person who is invited has not accepted yet')
  })

  test('is asked for another token once, if it refuses one', { tags: ['slow'] }, async ({ local }) => {
    const fake = await school(local)
    await ran(local, 'roster validate integration:classroom')
    fake.revokeTokens()
    await ran(local, 'roster validate integration:classroom')
    expect(fake.grants).toHaveLength(2)
  })

  test.for([
    ['an internal error', 500],
    ['a quota', 429],
    ['half a response', 'half'],
    ['a broken connection', 'broken'],
  ] as const)('is read to the end after %s', async ([, fault], { local }) => {
    const fake = await school(local)
    fake.fail('GET', /students$/, fault, { times: 2 })
    const { stderr } = await ran(local, 'roster validate integration:classroom')
    expect(stderr).toContain('with 4 users, 2 courses, 6 enrolments')
  })

  test('names a scope that is missing', async ({ local }) => {
    const fake = await school(local)
    fake.scopes = ['classroom.courses.readonly', 'classroom.profile.emails']
    const { stderr } = await ran(local, 'roster validate integration:classroom', 6)
    expect(stderr).toContain('Google Classroom: the sign-in lacks the scope classroom.rosters')
  })
})
