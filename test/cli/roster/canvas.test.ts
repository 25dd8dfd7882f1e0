import { expect, test } from 'vitest'
import { type RosterFiles, readRoster } from './read-roster.ts'

/** The examples of the documentation (doc/api/sis_csv.md in instructure/canvas-lms). */
const documented: RosterFiles = {
  'users.csv':
    'user_id,login_id,authentication_provider_id,password,first_name,last_name,short_name,email,status\n01103,bsmith01,,,Bob,Smith,Bobby Smith,bob.smith@myschool.edu,active\n13834,jdoe03,google,,John,Doe,,john.doe@myschool.edu,active\n13aa3,psue01,7,,Peggy,Sue,,peggy.sue@myschool.edu,active\n',
  'accounts.csv':
    'account_id,parent_account_id,name,status\nA001,,Humanities,active\nA002,A001,English,active\nA003,A001,Spanish,active\n',
  'terms.csv':
    'term_id,name,status,start_date,end_date\nT001,Winter2011,active,,\nT002,Spring2011,active,2013-1-03 00:00:00,2013-05-03 00:00:00-06:00\nT003,Fall2011,active,,\n',
  'courses.csv':
    'course_id,short_name,long_name,account_id,term_id,status\nE411208,ENG115,English 115: Intro to English,A002,,active\nR001104,BIO300,"Biology 300: Rocking it, Bio Style",A004,Fall2011,active\nA110035,ART105,"Art 105: ""Art as a Medium""",A001,,active\n',
  'sections.csv':
    'section_id,course_id,name,status,start_date,end_date\nS001,E411208,Section 1,active,,\nS002,E411208,Section 2,active,,\nS003,R001104,Section 1,active,,\n',
  'enrollments.csv':
    'course_id,user_id,role,section_id,status\nE411208,01103,student,1B,active\nE411208,13834,student,2A,active\nE411208,13aa3,teacher,2A,active\n',
  'user_observers.csv': 'observer_id,student_id,status\nu411208,u411222,active\n',
}

test('the examples of the Canvas documentation are read, and what they refer to and lack are warnings', {
  tags: ['slow'],
}, async () => {
  const { recordsOf, problems, warnings, notes, source } = await readRoster(documented)
  expect(source).toMatchObject({ format: 'canvas', version: null })
  expect(problems).toEqual([])
  expect(warnings).toEqual([
    'courses.csv:3 account_id: is not in accounts (A004)',
    'courses.csv:3 term_id: is not in terms (Fall2011)',
    'enrollments.csv:2 section_id: is not in sections (1B)',
    'enrollments.csv:3 section_id: is not in sections (2A)',
    'enrollments.csv:4 section_id: is not in sections (2A)',
  ])
  expect(recordsOf('users')).toEqual([
    {
      ...{ externalId: '01103', email: 'bob.smith@myschool.edu', username: 'bsmith01', status: 'active' },
      profile: { firstName: 'Bob', lastName: 'Smith', displayName: 'Bobby Smith' },
    },
    {
      ...{ externalId: '13834', email: 'john.doe@myschool.edu', username: 'jdoe03', status: 'active' },
      profile: { firstName: 'John', lastName: 'Doe' },
    },
    {
      ...{ externalId: '13aa3', email: 'peggy.sue@myschool.edu', username: 'psue01', status: 'active' },
      role: 'instructor',
      profile: { firstName: 'Peggy', lastName: 'Sue' },
    },
  ])
  expect(recordsOf('terms')).toEqual([
    { externalId: 'T001', name: 'Winter2011', startDate: null, endDate: null },
    { externalId: 'T002', name: 'Spring2011', startDate: '2013-01-03', endDate: '2013-05-03' },
    { externalId: 'T003', name: 'Fall2011', startDate: null, endDate: null },
  ])
  expect(recordsOf('courses')[2]).toEqual({ externalId: 'A110035', title: 'Art 105: "Art as a Medium"' })
  expect(recordsOf('groups')[0]).toEqual({
    ...{ externalId: 'S001', name: 'Section 1', course: 'ext:E411208', members: [] },
  })
  expect(recordsOf('enrollments')[2]).toEqual({
    ...{ courseId: 'ext:E411208', userId: 'ext:13aa3', role: 'instructor', status: 'active' },
  })
  expect(notes).toEqual([
    'user_observers.csv: is left out: it is no file of Canvas SIS',
    'accounts.csv: accounts are not kept (3 times)',
  ])
})

const sections = 'section_id,course_id,name,status\nS1,C1,One,active\nS2,C1,Two,active\nS3,C1,Three,deleted\n'

test('sections are groups with the people of their enrolments, and name the course of these', async () => {
  const { recordsOf, removedOf, problems } = await readRoster({
    'sections.csv': sections,
    'enrollments.csv':
      'user_id,role,section_id,status\nU1,student,S1,active\nU1,student,S2,active\nU2,student,S2,active\nU2,student,S1,deleted\nU3,ta,S2,active\nU4,student,S9,active\n',
  })
  expect(recordsOf('groups')).toEqual([
    { externalId: 'S1', name: 'One', course: 'ext:C1', members: ['ext:U1'] },
    { externalId: 'S2', name: 'Two', course: 'ext:C1', members: ['ext:U1', 'ext:U2', 'ext:U3'] },
  ])
  expect(removedOf('groups')).toEqual([{ externalId: 'S3' }])
  expect(recordsOf('enrollments').map(({ userId, role }) => [userId, role])).toEqual([
    ['ext:U1', 'learner'],
    ['ext:U2', 'learner'],
    ['ext:U3', 'instructor'],
  ])
  expect(removedOf('enrollments')).toEqual([])
  expect(problems).toEqual([
    'enrollments.csv:7 course_id: is required, as the course of the section is not known (S9)',
  ])
})

test('of several rows about an enrolment the one counts that has most, whatever their order', async () => {
  const { recordsOf, removedOf } = await readRoster({
    'enrollments.csv':
      'course_id,user_id,role,section_id,status\nC1,U1,student,S1,active\nC1,U1,student,S2,deleted\nC1,U2,student,S1,deleted\nC1,U2,student,S2,completed\nC1,U3,student,S1,deleted\nC1,U4,StudentEnrollment,S1,Inactive\n',
  })
  expect(recordsOf('enrollments').map(({ userId, status }) => [userId, status])).toEqual([
    ['ext:U1', 'active'],
    ['ext:U2', 'completed'],
    ['ext:U4', 'inactive'],
  ])
  expect(removedOf('enrollments').map(({ userId }) => userId)).toEqual(['ext:U3'])
})

test('groups have members by a file of their own', async () => {
  const { recordsOf, removedOf } = await readRoster({
    'groups.csv': 'group_id,account_id,name,status\nG1,,Choir,available\nG2,,Old,deleted\n',
    'groups_membership.csv': 'group_id,user_id,status\nG1,U1,accepted\nG1,U2,accepted\nG1,U3,deleted\n',
  })
  expect(recordsOf('groups')).toEqual([
    { externalId: 'G1', name: 'Choir', course: null, members: ['ext:U1', 'ext:U2'] },
  ])
  expect(removedOf('groups')).toEqual([{ externalId: 'G2' }])
})

test('groups may be of a course', async () => {
  const { recordsOf, notes } = await readRoster({
    'groups.csv': 'group_id,account_id,course_id,name,status\nG1,,C1,Chess,available\nG2,,,Choir,available\n',
  })
  expect(recordsOf('groups').map(({ externalId, course }) => [externalId, course])).toEqual([
    ['G1', 'ext:C1'],
    ['G2', null],
  ])
  expect(notes.filter((note) => note.includes('unknown'))).toEqual([])
})

test('an enrolment in a section has a problem if it names another course than the section', async () => {
  const { problems } = await readRoster({
    'sections.csv': `${sections}S1,C2,One,active\n`,
    'enrollments.csv':
      'course_id,user_id,role,section_id,status\nC1,U1,student,S1,active\nC1,U1,student,S2,active\n',
  })
  expect(problems).toEqual(['enrollments.csv:2 course_id: must be C2, the course of section S1 (C1)'])
})

test('unknown statuses and roles are problems, observers are left out', async () => {
  const { problems, notes, removedOf, recordsOf } = await readRoster({
    'users.csv':
      'user_id,login_id,full_name,email,status\nU1,ada,Ada Lovelace,ada@example.org,Active\nU2,bert,,bert@example.org,gone\nU3,cy,,cy@example.org,deleted\nU4,di,,di@example.org,suspended\n',
    'courses.csv':
      'course_id,short_name,long_name,status\nC1,A,Algebra,completed\nC2,B,Botany,published\nC3,C,Chess,deleted\nC4,,,active\n',
    'enrollments.csv':
      'course_id,user_id,role,role_id,status\nC1,U1,observer,,active\nC1,U1,mentor,,active\nC1,U1,,42,active\n',
  })
  expect(problems).toEqual([
    'users.csv:3 status: must be one of active, suspended, deleted (gone)',
    'courses.csv:5 long_name: is required',
    'enrollments.csv:3 role: must be a role of Canvas: student, teacher, ta, designer or observer (mentor)',
    'enrollments.csv:4 role_id: must be a role of Canvas: student, teacher, ta, designer or observer (42)',
  ])
  expect(recordsOf('users').map(({ status, profile }) => [status, profile])).toEqual([
    ['active', { displayName: 'Ada Lovelace' }],
    ['suspended', undefined],
  ])
  expect(removedOf('users')).toEqual([{ externalId: 'U3' }])
  expect(recordsOf('courses').map(({ status }) => status)).toEqual(['archived', 'published'])
  expect(removedOf('courses')).toEqual([{ externalId: 'C3' }])
  expect(notes).toEqual([
    'users.csv: statuses are not spelled as specified (Active)',
    'enrollments.csv: observers are left out',
  ])
})
