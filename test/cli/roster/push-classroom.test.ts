import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { type TestCli, test } from '../../helpers/cli.ts'
import type { FakeClassroom, ServedClassroom } from '../../helpers/fake-classroom.ts'
import { signedIn } from '../../helpers/integration-source.ts'
import { ran } from '../../helpers/result.ts'

const course = (externalId: string, title: string, status = 'published') => ({ externalId, title, status })
const person = (name: string, domain = 'school.example') => ({
  externalId: name,
  email: `${name}@${domain}`,
  role: 'learner',
})
const enrolment = (courseId: string, user: string, role = 'learner') => ({ courseId, userId: user, role })
const grade = (learner: string, scoreGiven: number, itemId = 'quiz-1', published = true) => ({
  ...{ courseId: 'BIO', learnerId: learner, itemId, label: itemId === 'quiz-1' ? 'Quiz' : 'Essay' },
  ...{ scoreGiven, scoreMaximum: 20, published, gradedAt: '2026-02-01T10:00:00Z' },
})

/** Biology with Ada, Bob and Gus of another domain, taught by Cleo; Chemistry with Bob; an archived course. */
const academy = {
  learnctl: 1,
  users: [
    person('ada'),
    person('bob'),
    { ...person('cleo'), role: 'instructor' },
    person('gus', 'elsewhere.example'),
  ],
  courses: [
    course('BIO', 'Biology'),
    course('CHE', 'Chemistry', 'draft'),
    course('OLD', 'History', 'archived'),
  ],
  enrollments: [
    enrolment('BIO', 'ada'),
    enrolment('BIO', 'bob'),
    enrolment('BIO', 'gus'),
    enrolment('BIO', 'cleo', 'instructor'),
    enrolment('CHE', 'bob'),
  ],
  grades: [grade('ada', 17), grade('bob', 12, 'quiz-1', false), grade('ada', 9, 'essay'), grade('gus', 3)],
}

async function school(cli: TestCli): Promise<ServedClassroom> {
  const fake = await signedIn(cli)
  for (const name of ['ada', 'bob', 'cleo']) fake.addUser(`${name}@school.example`)
  fake.addUser('gus@elsewhere.example')
  writeFileSync(join(cli.cwd, 'academy.json'), JSON.stringify(academy))
  await ran(cli, 'apply academy.json --yes')
  return fake
}

const push = 'roster push classroom'

/** What Classroom has, in words. */
function stateOf(fake: FakeClassroom): string[] {
  const nameOf = (id: string) => fake.users.find((user) => user.id === id)?.email.split('@')[0] ?? id
  return fake.courses
    .map(({ fields, aliases, students, teachers, work, submissions }) => {
      const grades = work.map(({ id, title, maxPoints }) => {
        const own = (submissions.get(id) ?? []).map(
          (one) => `${nameOf(one.userId)} ${one.draftGrade ?? '-'}/${one.assignedGrade ?? '-'} ${one.state}`,
        )
        return `${title} of ${maxPoints}: ${own.toSorted().join(', ')}`
      })
      const people = `${students.map(nameOf).toSorted().join(' ')} by ${teachers.map(nameOf).toSorted().join(' ')}`
      return [`${aliases} ${fields['name']} ${fields['courseState']}: ${people}`, ...grades.toSorted()].join(
        '; ',
      )
    })
    .toSorted()
}

const pushed = [
  'd:BIO Biology ACTIVE: ada bob by admin cleo; Essay of 20: ada 9/9 NEW, bob -/- NEW; Quiz of 20: ada 17/17 NEW, bob 12/- NEW',
  'd:CHE Chemistry PROVISIONED: bob by admin',
]

describe('roster push classroom', () => {
  test('shows a plan, writes it, and counts both sides at the end', { tags: ['slow'] }, async ({ local }) => {
    const fake = await school(local)
    const dry = await ran(local, `${push} --dry-run`)
    expect(dry.stdout.split('\n')).toEqual([
      '+ course Biology',
      '+ enrolment ada@school.example in Biology',
      '+ enrolment bob@school.example in Biology',
      '+ enrolment cleo@school.example in Biology',
      '+ enrolment gus@elsewhere.example in Biology',
      '+ item Essay in Biology',
      '+ item Quiz in Biology',
      '+ grade Essay of ada@school.example in Biology',
      '+ grade Quiz of ada@school.example in Biology',
      '+ grade Quiz of bob@school.example in Biology',
      '+ grade Quiz of gus@elsewhere.example in Biology',
      '+ course Chemistry',
      '+ enrolment bob@school.example in Chemistry',
      'Plan for Google Classroom: 2 courses (2 new), 5 enrolments (5 new), 2 items (2 new), 4 grades (4 new); nothing is deleted',
      '',
    ])
    expect(dry.stderr).toBe('note: 1 archived course left out\n')
    expect(fake.courses).toEqual([])
    expect((await ran(local, push, 2)).stderr).toContain('Refusing to write 13 records without confirmation')
    const { stdout, stderr } = await ran(local, `${push} --yes`)
    expect(stdout).toContain(
      'courses: 2 of 2 equal\nenrollments: 4 of 5 equal, 1 when invitations are accepted\nitems: 2 of 2 equal\ngrades: 3 of 4 equal, 1 when invitations are accepted\n',
    )
    expect(stderr).toContain('Pushed 13 records to Google Classroom')
    expect(stateOf(fake)).toEqual(pushed)
    expect(fake.invitations).toMatchObject([{ role: 'STUDENT' }])
  })

  test('is silent the second time, and changes what has changed', { tags: ['slow'] }, async ({ local }) => {
    const fake = await school(local)
    await ran(local, `${push} --yes`)
    const writes = () => fake.requests.filter(({ method }) => method !== 'GET').length
    const before = writes()
    expect(await ran(local, `${push} --yes`)).toMatchObject({ stdout: '', stderr: '' })
    expect(writes()).toBe(before)
    await ran(local, 'courses update ext:BIO --title "Biology I"')
    await ran(local, 'grades set --course ext:BIO --user ext:ada --item quiz-1 --score 18 --maximum 20')
    const biology = fake.courses.find(({ aliases }) => aliases.includes('d:BIO'))
    for (const submissions of biology?.submissions.values() ?? [])
      for (const one of submissions) one.state = 'TURNED_IN'
    expect((await ran(local, `${push} --yes --course ext:BIO`)).stdout).toContain('~ course Biology I\n')
    expect(stateOf(fake)[0]).toBe(
      'd:BIO Biology I ACTIVE: ada bob by admin cleo; Essay of 20: ada 9/9 RETURNED, bob -/- TURNED_IN; Quiz of 20: ada 18/18 RETURNED, bob 12/- TURNED_IN',
    )
    expect(fake.requests.some(({ method }) => method === 'DELETE')).toBe(false)
  })

  test.for([
    ['responses that are lost', 'lost'],
    ['connections that break', 'broken'],
    ['half responses', 'half'],
    ['internal errors', 500],
    ['a quota', 429],
  ] as const)(
    'does nothing twice and loses nothing after %s',
    { tags: ['slow'] },
    async ([, fault], { local }) => {
      const fake = await school(local)
      for (const path of [/courses$/, /students$/, /teachers$/, /invitations$/, /courseWork$/]) {
        fake.fail('POST', path, fault, { times: 2 })
      }
      fake.fail('PATCH', /studentSubmissions/, fault, { times: 3 })
      fake.fail('GET', /students$/, fault, { times: 2 })
      await ran(local, `${push} --yes`)
      expect(stateOf(fake)).toEqual(pushed)
      expect(fake.invitations).toHaveLength(1)
    },
  )

  test('continues where it was interrupted', { tags: ['slow'] }, async ({ local }) => {
    const fake = await school(local)
    fake.fail('POST', /courseWork$/, 500, { skip: 1, times: 99 })
    const stopped = await ran(local, `${push} --yes`, 7)
    expect(stopped.stderr).toContain('hint: Run the command again later: it continues')
    fake.mend()
    await ran(local, `${push} --yes`)
    expect(stateOf(fake)).toEqual(pushed)
  })

  test('exits with 8 and names what Google refused, and does the rest', { tags: ['slow'] }, async ({
    local,
  }) => {
    const fake = await school(local)
    fake.users.splice(
      fake.users.findIndex(({ email }) => email.startsWith('gus')),
      1,
    )
    const { stderr, stdout } = await ran(local, `${push} --yes`, 8)
    expect(stderr).toContain('error: Google Classroom refused 1 record\n')
    expect(stderr).toContain('gus@elsewhere.example in Biology: no Google account with this address')
    expect(stdout).toContain('enrollments: 4 of 5 equal\n')
    expect(stateOf(fake)).toEqual(pushed)
    const document = JSON.parse((await ran(local, `${push} --yes -o json`, 8)).stdout)
    expect(document).toMatchObject({ outcome: 'refused', exitCode: 8, refusedCount: 1, differenceCount: 2 })
  })

  test('exits with 9 if Classroom does not keep what it was given', { tags: ['slow'] }, async ({ local }) => {
    const fake = await school(local)
    await ran(local, `${push} --yes`)
    const [biology] = fake.courses.filter(({ aliases }) => aliases.includes('d:BIO'))
    const bob = fake.users.find(({ email }) => email.startsWith('bob'))?.id ?? ''
    biology?.students.splice(biology.students.indexOf(bob), 1)
    biology?.teachers.push(bob)
    const { stderr } = await ran(local, `${push} --yes`, 9)
    expect(stderr).toContain('Enrolment bob@school.example in Biology')
  })

  test('writes only the chosen course and parts', { tags: ['slow'] }, async ({ local }) => {
    const fake = await school(local)
    await ran(local, `${push} --yes --course ext:CHE --only courses`)
    expect(stateOf(fake)).toEqual(['d:CHE Chemistry PROVISIONED:  by admin'])
  })

  test('says once what it waits for, also in a pipe', { tags: ['slow'] }, async ({ local }) => {
    const fake = await school(local)
    fake.retryAfter = 3
    fake.fail('POST', /\/courses$/, 429, { times: 2 })
    const { stderr } = await ran(local, `${push} --yes`)
    expect(stderr.match(/waiting \d+ s, and again for up to 15 minutes if it asks to/g)).toHaveLength(1)
    expect(stderr).toContain('note: Google Classroom takes no more records now: ')
    expect(stateOf(fake)).toEqual(pushed)
  })

  test('tells a course that is gone from a person without an account', { tags: ['slow'] }, async ({
    local,
  }) => {
    const fake = await school(local)
    await ran(local, `${push} --yes --only courses`)
    fake.fail('POST', /\/students$/, 404)
    fake.fail('GET', /\/courses\/\d+$/, 404)
    const { stderr } = await ran(local, `${push} --yes --course ext:CHE --only courses,enrollments`, 8)
    expect(stderr).toContain('bob@school.example in Chemistry: no such course')
  })

  test('writes nothing while another push to the same academy runs, so that nothing is created twice', {
    tags: ['slow'],
  }, async ({ local }) => {
    const fake = await school(local)
    await Promise.all([1, 2].map(() => local.run(`${push} --yes`)))
    expect(stateOf(fake)).toEqual(pushed)
    await ran(local, 'grades set ext:ada --course ext:BIO --item essay --score 10')
    const id = '11111111-2222-4333-8444-555555555555'
    await ran(local, `api leases.take --field id=${id} --field holder=elsewhere`)
    const { stderr } = await ran(local, `${push} --yes`, 6)
    expect(stderr).toMatch(/error: Another apply to .* is running: .*elsewhere/)
    expect(stateOf(fake)).toEqual(pushed)
  })

  test('does not wait for hours', { tags: ['slow'] }, async ({ local }) => {
    const fake = await school(local)
    fake.retryAfter = 99_999
    fake.fail('POST', /\/courses$/, 429)
    const { stderr } = await ran(local, `${push} --yes`, 7)
    expect(stderr).toContain('error: Google Classroom does not take more records now\n')
  })

  test('needs a sign-in that may write', { tags: ['slow'] }, async ({ local }) => {
    const fake = await school(local)
    fake.scopes = fake.scopes.map((name) => (name.endsWith('emails') ? name : `${name}.readonly`))
    const { stderr } = await ran(local, `${push} --yes`, 8)
    expect(stderr).toContain('Biology: the sign-in lacks the scope classroom.courses')
    fake.refusesGrants = 'invalid_grant'
    fake.revokeTokens()
    expect((await ran(local, `${push} --yes`, 6)).stderr).toContain('learnctl integrations sign-in classroom')
  })
})
