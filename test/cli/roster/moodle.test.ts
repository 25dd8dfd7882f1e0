import { describe, expect, test } from 'vitest'
import { readRoster } from './read-roster.ts'

describe('files of Moodle', () => {
  test('are read as in the examples of its documentation', async () => {
    // The examples of "Upload users" and "Upload courses" (docs.moodle.org).
    const { recordsOf, problems, warnings, notes, source } = await readRoster({
      'users.csv':
        'username,password,firstname,lastname,email,course1,group1,cohort1\njonest,verySecret3$,Tom,Jones,jonest@example.com,math102,Section 1,year 3\nreznort,someSecret4#,Trent,Reznor,reznort@example.com,math102,Section 3,year 4\n',
      'uploadcourse.csv':
        'shortname,fullname,category,summary,enrolment_1,enrolment_1_role,enrolment_1_enrolperiod,role_student\ncourserestored,Course restored,1,a summary,manual,student,1 month,\ncourserestored4,Course restored 4,1,"a summary, with comma",manual,student,1 month,padawan\n',
    })
    expect(source).toMatchObject({ format: 'moodle', parts: ['users', 'courses', 'groups', 'enrollments'] })
    expect(problems).toEqual([])
    expect(warnings).toEqual([
      'users.csv:2 course1: is not in courses (math102)',
      'users.csv:3 course1: is not in courses (math102)',
    ])
    expect(recordsOf('users')[0]).toEqual({
      ...{ externalId: 'jonest', email: 'jonest@example.com', username: 'jonest' },
      profile: { firstName: 'Tom', lastName: 'Jones' },
    })
    expect(recordsOf('courses')[1]).toEqual({
      ...{ externalId: 'courserestored4', title: 'Course restored 4', description: 'a summary, with comma' },
    })
    expect(recordsOf('enrollments')[0]).toEqual({
      ...{ courseId: 'ext:math102', userId: 'ext:jonest', role: 'learner', status: 'active' },
    })
    expect(recordsOf('groups')).toEqual([
      { externalId: 'math102/Section 1', name: 'Section 1', course: 'ext:math102', members: ['ext:jonest'] },
      { externalId: 'year 3', name: 'year 3', course: null, members: ['ext:jonest'] },
      { externalId: 'math102/Section 3', name: 'Section 3', course: 'ext:math102', members: ['ext:reznort'] },
      { externalId: 'year 4', name: 'year 4', course: null, members: ['ext:reznort'] },
    ])
    expect(notes).toEqual(['users.csv: passwords are left out (2 times)'])
  })

  test('keep the enrolments of an earlier row of a user that a later row does not repeat', async () => {
    const { recordsOf } = await readRoster({
      'users.csv':
        'username,firstname,lastname,email,course1,course2\nada,Ada,L,ada@b.example,bio,art\nada,Ada,L,ada@b.example,bio,che\n',
    })
    expect(recordsOf('enrollments').map(({ courseId }) => courseId)).toEqual([
      'ext:art',
      'ext:bio',
      'ext:che',
    ])
  })

  test('have roles by name or type, suspended enrolments, and several rows of one user', async () => {
    const { recordsOf, removedOf, problems, notes } = await readRoster({
      'users.csv':
        'username,firstname,lastname,email,idnumber,suspended,deleted,course1,role1,type1,enrolstatus1,course2,role2,enroltimestart2\nada,Ada,L,ada@example.org,A-1,1,0,bio,,2,1,art,student,2026-09-01\nbert,B,B,bert@example.org,,0,0,bio,editingteacher,,,,,\nbert,Bert,B,bert@example.org,,0,0,art,,,,,,\ncy,,,,,,1,,,,,,,\ndi,D,D,di@example.org,A-1,maybe,0,bio,,7,,art,pirate,\n',
    })
    expect(problems).toEqual([
      'users.csv:6 type1: must be 1, 2 or 3 (7)',
      expect.stringMatching(/^users.csv:6 role2: must be one of student, teacher, .* \(pirate\)$/),
      'users.csv:6 suspended: must be 0 or 1 (maybe)',
      'users.csv:6 idnumber: is the id of users.csv:2 as well (A-1)',
    ])
    expect(recordsOf('users').map(({ externalId, role, status }) => [externalId, role, status])).toEqual([
      ['A-1', 'instructor', 'suspended'],
      ['bert', undefined, 'active'],
    ])
    expect(removedOf('users')).toEqual([{ externalId: 'cy' }])
    expect(
      recordsOf('enrollments').map(({ courseId, userId, role, status }) => [courseId, userId, role, status]),
    ).toEqual([
      ['ext:bio', 'ext:A-1', 'instructor', 'inactive'],
      ['ext:art', 'ext:A-1', 'learner', 'active'],
      ['ext:bio', 'ext:bert', 'instructor', 'active'],
      ['ext:art', 'ext:bert', 'learner', 'active'],
    ])
    expect(recordsOf('enrollments')[1]).toMatchObject({ enrolledAt: '2026-09-01T00:00:00.000Z' })
    expect(notes).toContain('users.csv: several rows of one user; read the last (bert in line 4)')
  })

  test('have courses that are visible or not, deleted, and not renamed', async () => {
    const { recordsOf, removedOf, problems, notes, findings } = await readRoster({
      'courses.csv':
        'shortname;fullname;visible;delete;rename;lang;startdate\nbio;Biology;1;;;de_comm;01.09.2026\nart;Art;0;0;;;\nold;Old;;1;;;\nnew;New;;;newer;;\n',
    })
    expect(problems).toEqual([
      'courses.csv:5 rename: cannot be read: rename the course in the academy first (newer)',
    ])
    expect(recordsOf('courses')).toEqual([
      { externalId: 'bio', title: 'Biology', language: 'de-comm', status: 'published' },
      { externalId: 'art', title: 'Art', status: 'draft' },
    ])
    expect(removedOf('courses')).toEqual([{ externalId: 'old' }])
    expect(notes).toEqual([])
    expect(findings.unreadColumns.get('courses.csv')).toEqual(['startdate'])
  })
})

test('users of Kolibri are read by the codes in their headers, with classes as courses', async () => {
  const header =
    'Datenbank-ID (UUID),Benutzername (USERNAME),Passwort (PASSWORD),Name (FULL_NAME),Typ (USER_TYPE),Kennung (IDENTIFIER),Jahrgang (BIRTH_YEAR),Geschlecht (GENDER),Klassen (ENROLLED_IN),Betreuung (ASSIGNED_TO)'
  const files = {
    'users.csv': `${header}\n,ada,*,Ada Lovelace,LEARNER,,,,"class one,class two",\nf9c4,bert,secret,Bert,CLASS_COACH,,,,,Class one\n,cy,,Cy,ADMIN,,,,,\n,di,,Di,PILOT,,,,,\n`,
  }
  const { recordsOf, problems, notes, source } = await readRoster(files, { emailDomain: 'school.example' })
  expect(source).toMatchObject({ format: 'kolibri', parts: ['users', 'courses', 'enrollments'] })
  expect(problems).toEqual([
    'users.csv:5 USER_TYPE: must be LEARNER, CLASS_COACH, FACILITY_COACH or ADMIN (PILOT)',
  ])
  expect(recordsOf('users')).toEqual([
    {
      ...{ externalId: 'ada', email: 'ada@school.example', username: 'ada', role: 'learner' },
      profile: { displayName: 'Ada Lovelace' },
    },
    {
      ...{ externalId: 'f9c4', email: 'bert@school.example', username: 'bert', role: 'instructor' },
      profile: { displayName: 'Bert' },
    },
    {
      ...{ externalId: 'cy', email: 'cy@school.example', username: 'cy', role: 'analyst' },
      profile: { displayName: 'Cy' },
    },
  ])
  expect(recordsOf('courses')).toEqual([
    { externalId: 'class one', title: 'class one' },
    { externalId: 'class two', title: 'class two' },
  ])
  expect(recordsOf('enrollments').map(({ courseId, userId, role }) => [courseId, userId, role])).toEqual([
    ['ext:class one', 'ext:ada', 'learner'],
    ['ext:class two', 'ext:ada', 'learner'],
    ['ext:class one', 'ext:f9c4', 'instructor'],
  ])
  expect(notes).toContain('users.csv: names of classes are spelled in several ways (Class one)')
  const without = await readRoster(files)
  expect(without.problems[0]).toBe(
    'users.csv:2 null: has no e-mail address: an academy knows people by their address',
  )
})
