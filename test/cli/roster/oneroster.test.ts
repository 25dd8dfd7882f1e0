import { describe, expect, test } from 'vitest'
import { oneRosterColumns, type oneRosterTables } from '../../../src/cli/roster/oneroster-tables.ts'
import { type Cells, csv, published, type RosterFiles, readRoster } from './read-roster.ts'

const ada: Cells = {
  sourcedId: 'u1',
  enabledUser: 'true',
  orgSourcedIds: 's1,s2',
  role: 'student',
  username: 'ada',
  userIds: '{LDAP:ada01},{LTI:x-1}',
  givenName: 'Ada',
  familyName: 'Lovelace',
  email: 'ada@example.org',
  grades: '09,10',
}
const bert: Cells = {
  sourcedId: 'u2',
  enabledUser: 'false',
  orgSourcedIds: 's1',
  role: 'teacher',
  username: 'bert',
  givenName: 'Bert',
  familyName: 'Müller',
  email: 'bert@example.org',
}
const school = csv(published['1.2'].orgs, [
  { sourcedId: 's1', name: 'North School', type: 'school' },
  { sourcedId: 's2', name: 'South School', type: 'school', parentSourcedId: 's1' },
])

/** Returns a manifest in which every file has a mode. */
function manifest(files: readonly string[], mode = 'bulk', version = '1.1'): string {
  const lines = [
    'manifest.version,1.0',
    `oneroster.version,${version}`,
    ...files.map((file) => `file.${file},${mode}`),
  ]
  return ['propertyName,value', ...lines, 'source.systemName,Test SIS', 'source.systemCode,T'].join('\r\n')
}

/** Returns a package of users. */
function usersOnly(users: string | Uint8Array, mode?: string): RosterFiles {
  return { 'manifest.csv': manifest(['users', 'orgs'], mode), 'orgs.csv': school, 'users.csv': users }
}

/** Users of the package in the form of files. */
const wanted = [
  {
    externalId: 'u1',
    email: 'ada@example.org',
    username: 'ada',
    role: 'learner',
    status: 'active',
    profile: { firstName: 'Ada', lastName: 'Lovelace' },
  },
  {
    externalId: 'u2',
    email: 'bert@example.org',
    username: 'bert',
    role: 'instructor',
    status: 'suspended',
    profile: { firstName: 'Bert', lastName: 'Müller' },
  },
]

const role = (user: string, name: string, type = 'primary', status = ''): Cells => ({
  sourcedId: `${user}-${name}`,
  status,
  userSourcedId: user,
  roleType: type,
  role: name,
  orgSourcedId: 's1',
})

test('the columns of each table are those that OneRoster publishes', () => {
  for (const [table, header] of Object.entries(published['1.2'])) {
    expect(oneRosterColumns(table as keyof typeof oneRosterTables, '1.2')?.join(',')).toBe(header)
  }
  expect(oneRosterColumns('users', '1.1').join(',')).toBe(published['1.1'].users)
  expect(oneRosterColumns('roles', '1.1')).toEqual([])
})

describe('the users of a OneRoster package', () => {
  test('are read from version 1.1, which has their roles in a column', async () => {
    const { recordsOf, notes, source, problems, warnings } = await readRoster(
      usersOnly(csv(published['1.1'].users, [ada, bert])),
    )
    expect(recordsOf('users')).toEqual(wanted)
    expect({ problems, warnings }).toEqual({ problems: [], warnings: [] })
    expect(notes).toEqual(['orgs.csv: organisations are not kept (2 times)'])
    expect(source).toMatchObject({ format: 'oneroster', version: '1.1', systemName: 'Test SIS' })
  })

  test('are read from version 1.2, which has their roles in a file', async () => {
    const { recordsOf, notes } = await readRoster({
      'users.csv': csv(published['1.2'].users, [ada, { ...bert, preferredGivenName: 'Bertie' }]),
      'roles.csv': csv(published['1.2'].roles, [
        role('u1', 'student'),
        role('u2', 'parent', 'secondary'),
        role('u2', 'teacher'),
        role('u2', 'principal', 'primary', 'tobedeleted'),
      ]),
    })
    const profile = { ...wanted[1]?.profile, displayName: 'Bertie Müller' }
    expect(recordsOf('users')).toEqual([wanted[0], { ...wanted[1], profile }])
    expect(notes).toEqual([
      'roster: there is no manifest.csv; files are read as bulk',
      'roles.csv: references to orgs are not checked: the roster has no such file (3 times)',
      'roles.csv: users have several roles; read the primary one',
      'roles.csv: status or dateLastModified is filled in a bulk file',
      'roles.csv: removed roles are left out',
    ])
  })

  test.for([
    ['with a byte order mark', (text: string) => `\uFEFF${text}`],
    ['in UTF-16', (text: string) => Buffer.from(`\uFEFF${text}`, 'utf16le')],
    ['in Windows-1252', (text: string) => Buffer.from(text, 'latin1')],
    ['with LF and blank rows', (text: string) => `${text.replaceAll('\r\n', '\n')}\n,,,,,,,,,,,,,,,,,\n`],
  ] as const)('may come %s', async ([, change]) => {
    const { recordsOf, problems } = await readRoster(
      usersOnly(change(csv(published['1.1'].users, [ada, bert]))),
    )
    expect(recordsOf('users')).toEqual(wanted)
    expect(problems).toEqual([])
  })

  test('are removed where a delta says so', async () => {
    const at = '2026-08-31T10:00:00Z'
    const rows = [
      { ...ada, status: 'active', dateLastModified: at },
      { sourcedId: 'u2', status: 'tobedeleted', dateLastModified: at },
      { ...bert, sourcedId: 'u3', dateLastModified: at },
    ]
    const { recordsOf, removedOf, notes, source } = await readRoster(
      usersOnly(csv(published['1.1'].users, rows), 'delta'),
    )
    expect(source.mode('users')).toBe('delta')
    expect(recordsOf('users').map(({ externalId }) => externalId)).toEqual(['u1', 'u3'])
    expect(removedOf('users')).toEqual([{ externalId: 'u2' }])
    expect(notes).toContain('users.csv: status is empty in a delta file; read as active')
  })

  test('are read as they are meant, and every leniency is counted', { tags: ['slow'] }, async () => {
    const header = `${published['1.1'].users.replace('sourcedId', 'SourcedId')},preferredGivenName`
    const { recordsOf, notes, problems } = await readRoster(
      usersOnly(
        csv(`${header.replace('preferred', 'preffered')},metadata.bus,shoeSize`, [
          { ...ada, SourcedId: 'u1', role: 'Student', enabledUser: 'TRUE', status: 'active' },
          { ...bert, SourcedId: 'u2', enabledUser: 'no', prefferedGivenName: 'Bertie', password: 'secret' },
          { ...ada, SourcedId: 'u3', username: 'mum@example.org', role: 'parent' },
          {
            ...ada,
            SourcedId: 'u4',
            email: '',
            username: 'dan@example.org',
            role: 'ext:coach',
            enabledUser: '',
          },
          { ...ada, SourcedId: 'u5', email: 'eve@example.org', username: 'SCHOOL\\eve', role: 'principal' },
          { ...ada, SourcedId: 'u1' },
        ]),
      ),
    )
    expect(problems).toEqual([])
    expect(recordsOf('users')).toMatchObject([
      { externalId: 'u2', status: 'suspended', profile: { displayName: 'Bertie Müller' } },
      { externalId: 'u4', status: 'active', email: 'dan@example.org', username: 'dan@example.org' },
      { externalId: 'u5', email: 'eve@example.org', role: 'analyst' },
      { externalId: 'u1', role: 'learner' },
    ])
    expect(recordsOf('users')[1]).not.toHaveProperty('role')
    expect(recordsOf('users')[2]).not.toHaveProperty('username')
    expect(recordsOf('users')[0]).not.toHaveProperty('password')
    expect(notes.filter((note) => note.startsWith('users.csv'))).toEqual([
      'users.csv: columns are not spelled as specified (2 times: SourcedId, prefferedGivenName)',
      'users.csv: unknown columns are left out (shoeSize)',
      'users.csv: status or dateLastModified is filled in a bulk file',
      'users.csv: roles are not spelled as specified (Student)',
      'users.csv: enabledUser is not true or false (3 times: TRUE, no, empty)',
      'users.csv: passwords are left out',
      'users.csv: people without a role in an academy are left out (parent)',
      'users.csv: unknown roles, which --map-value can give a meaning; new users become learners (ext:coach)',
      'users.csv: addresses are read from username',
      'users.csv: administrators become analysts (principal)',
      'users.csv: user names with other characters are left out (SCHOOL\\eve)',
      'users.csv: several rows of one user; read the last (u1 in line 7)',
    ])
  })

  test('have problems in the words of the file', { tags: ['slow'] }, async () => {
    const text = csv(published['1.1'].users, [
      { ...ada, sourcedId: '' },
      { ...ada, enabledUser: 'maybe' },
      { ...bert, givenName: 'B'.repeat(300), email: 'bert' },
      { ...bert, sourcedId: 'u5', username: 'b5', email: 'ADA@example.org', orgSourcedIds: 's9' },
      { ...bert, sourcedId: 'u6', username: '', email: '' },
    ])
    const { recordsOf, problems, warnings } = await readRoster(usersOnly(`${text}u4,,\r\n`))
    expect(problems).toEqual([
      'users.csv:2 sourcedId: is required',
      'users.csv:3 enabledUser: must be true or false (maybe)',
      'users.csv:4 email: must be an e-mail address, such as ada@example.org (bert)',
      expect.stringMatching(/^users.csv:4 givenName: must have at most \d+ characters \(B+\)$/),
      'users.csv:5 email: is the address of users.csv:3 as well (ada@example.org)',
      'users.csv:6 email: is required: an academy knows people by their address',
      'users.csv:7 null: has 3 cells, but the header has 18',
    ])
    expect(warnings).toEqual(['users.csv:5 orgSourcedIds: is not in orgs (s9)'])
    expect(recordsOf('users')).toEqual([])
  })

  test('get addresses of a domain where they have none, if that is asked for', {
    tags: ['slow'],
  }, async () => {
    const rows = [
      { ...ada, email: '' },
      { ...bert, email: '', username: '' },
      { ...bert, sourcedId: 'u 3', email: '', username: '' },
    ]
    const { recordsOf, problems, notes } = await readRoster(usersOnly(csv(published['1.1'].users, rows)), {
      emailDomain: 'pupils.example',
    })
    expect(recordsOf('users').map(({ email }) => email)).toEqual(['ada@pupils.example', 'u2@pupils.example'])
    expect(problems).toEqual([
      'users.csv:4 username: cannot be part of an e-mail address at pupils.example (u 3)',
    ])
    expect(notes).toContain('users.csv: people without an address get one at pupils.example (2 times)')
  })

  test('must have a column sourcedId', { tags: ['slow'] }, async () => {
    const files = { 'users.csv': 'id,givenName,familyName\r\n1,Ada,B\r\n' }
    await expect(readRoster(files, { format: 'oneroster' })).rejects.toThrow(
      'users.csv has no column sourcedId',
    )
  })
})

const sessions = csv(published['1.2'].academicSessions, [
  { sourcedId: 'y1', title: '2026/27', type: 'schoolYear', startDate: '2026-09-01', endDate: '2027-06-30' },
  {
    ...{ sourcedId: 't1', title: 'Autumn', type: 'term', startDate: '2026-09-01', endDate: '2026-12-18' },
    parentSourcedId: 'y1',
  },
])
const courses = csv(published['1.2'].courses, [
  { sourcedId: 'c1', title: 'Biology', courseCode: 'BIO', orgSourcedId: 's1', schoolYearSourcedId: 'y1' },
])
const classes = csv(published['1.2'].classes, [
  {
    sourcedId: 'k1',
    title: 'Biology 5b',
    courseSourcedId: 'c1',
    schoolSourcedId: 's1',
    termSourcedIds: 't1',
  },
  {
    sourcedId: 'k2',
    title: 'Biology 5c',
    courseSourcedId: 'c1',
    schoolSourcedId: 's1',
    termSourcedIds: 't1,y1',
  },
])
const enrollments = csv(published['1.2'].enrollments, [
  { sourcedId: 'e1', classSourcedId: 'k1', userSourcedId: 'u1', role: 'student', beginDate: '2026-09-02' },
  { sourcedId: 'e2', classSourcedId: 'k1', userSourcedId: 'u2', role: 'teacher', primary: 'true' },
  { sourcedId: 'e3', classSourcedId: 'k2', userSourcedId: 'u2', role: 'Teacher' },
])
const whole: RosterFiles = {
  'orgs.csv': school,
  'academicSessions.csv': sessions,
  'courses.csv': courses,
  'classes.csv': classes,
  'users.csv': csv(published['1.2'].users, [ada, { ...bert, enabledUser: 'true' }]),
  'roles.csv': csv(published['1.2'].roles, [role('u1', 'student'), role('u2', 'teacher')]),
  'enrollments.csv': enrollments,
}
const names = Object.keys(whole).map((name) => name.replace('.csv', ''))

describe('a OneRoster package', () => {
  test('may have what real ones have: roles as user profiles, empty columns at the end, modes left out', {
    tags: ['slow'],
  }, async () => {
    const header = `${published['1.2'].roles.replace('dateLast', 'dataLast')},,`
    const { recordsOf, problems, notes, source } = await readRoster({
      ...whole,
      'manifest.csv': `${manifest(['users', 'roles'], 'bulk', '1.2')}\r\nfile.scoreScales,`.replace(
        'Test SIS',
        'absent',
      ),
      'roles.csv': csv(header, []),
      'userProfiles.csv': `${header}\r\nr1,,,u1,primary,student,,,s1,\r\nr2,,,u2,primary,teacher,,,s1,,,,\r\n`,
    })
    expect(problems).toEqual([])
    expect(source.systemName).toBe(null)
    expect(recordsOf('users').map((user) => user['role'])).toEqual(['learner', 'instructor'])
    expect(notes).toEqual(
      expect.arrayContaining([
        'manifest.csv: files without a mode are read as absent if they are missing (file.scoreScales)',
        'userProfiles.csv: columns are not spelled as specified (dataLastModified)',
        'userProfiles.csv: empty cells at the end of rows are missing or too many (2 times)',
      ]),
    )
  })

  test('has sessions as terms, classes as courses, and enrolments in them', { tags: ['slow'] }, async () => {
    const { recordsOf, problems, warnings, source, notes } = await readRoster({
      ...whole,
      'manifest.csv': manifest(names, 'bulk', '1.2'),
      'demographics.csv': 'sourcedId,status\r\nu1,\r\n',
    })
    expect({ problems, warnings }).toEqual({ problems: [], warnings: [] })
    expect(source.parts).toEqual(['terms', 'users', 'courses', 'enrollments'])
    expect(recordsOf('terms')).toEqual([
      { externalId: 'y1', name: '2026/27', startDate: '2026-09-01', endDate: '2027-06-30' },
      { externalId: 't1', name: 'Autumn', startDate: '2026-09-01', endDate: '2026-12-18' },
    ])
    expect(recordsOf('courses')).toEqual([
      { externalId: 'k1', title: 'Biology 5b', term: 'ext:t1' },
      { externalId: 'k2', title: 'Biology 5c', term: 'ext:t1' },
    ])
    expect(recordsOf('enrollments')).toEqual([
      {
        ...{ courseId: 'ext:k1', userId: 'ext:u1', role: 'learner', status: 'active' },
        enrolledAt: '2026-09-02T00:00:00.000Z',
      },
      { courseId: 'ext:k1', userId: 'ext:u2', role: 'instructor', status: 'active' },
      { courseId: 'ext:k2', userId: 'ext:u2', role: 'instructor', status: 'active' },
    ])
    expect(notes).toEqual([
      'demographics.csv: is left out: an academy has no such records',
      'orgs.csv: organisations are not kept (2 times)',
      'courses.csv: courses are read through their classes',
      'classes.csv: classes are in several terms; read the first',
      'enrollments.csv: roles are not spelled as specified (Teacher)',
    ])
  })

  test('has courses as courses where there are no classes', { tags: ['slow'] }, async () => {
    const { 'classes.csv': _, ...others } = whole
    const { recordsOf, problems } = await readRoster({
      ...others,
      'enrollments.csv': enrollments.replaceAll(/k\d/g, 'c1'),
    })
    expect(problems).toEqual([])
    expect(recordsOf('courses')).toEqual([{ externalId: 'c1', title: 'Biology', term: 'ext:y1' }])
    expect(recordsOf('enrollments').map(({ courseId }) => courseId)).toEqual(['ext:c1', 'ext:c1'])
  })

  test('has results as grades, with the weight of their category', { tags: ['slow'] }, async () => {
    const item = (id: string, category: string): Cells => ({
      ...{ sourcedId: id, title: `Item ${id}`, classSourcedId: 'k1', categorySourcedId: category },
      ...{ resultValueMin: '0', resultValueMax: '20', dueDate: '2026-10-01', assignDate: '2026-09-20' },
    })
    const result = (line: string, score: string, scoreStatus = 'fully graded'): Cells => ({
      ...{ sourcedId: `${line}-r`, lineItemSourcedId: line, studentSourcedId: 'u1', scoreStatus, score },
      scoreDate: '2026-10-02',
    })
    const { recordsOf, problems, notes } = await readRoster({
      ...whole,
      'categories.csv': csv(published['1.2'].categories, [
        { sourcedId: 'g1', title: 'Tests', weight: '60' },
        { sourcedId: 'g2', title: 'Exam', weight: '40' },
      ]),
      'lineItems.csv': csv(published['1.2'].lineItems, [
        ...[item('l1', 'g1'), item('l2', 'g1'), item('k1:exam', 'g2'), item('l4', ''), item('l5', '')],
      ]),
      'results.csv': csv(published['1.2'].results, [
        ...[result('l1', '15'), result('l2', '21.5', 'partially graded'), result('k1:exam', '18')],
        ...[result('l4', '', 'not submitted'), result('l5', '3', 'exempt'), result('l9', '3')],
      ]),
    })
    const grade = {
      courseId: 'ext:k1',
      learnerId: 'ext:u1',
      scoreMaximum: 20,
      gradedAt: '2026-10-02T00:00:00.000Z',
    }
    expect(recordsOf('grades')).toEqual([
      {
        ...grade,
        itemId: 'l1',
        label: 'Item l1',
        scoreGiven: 15,
        weight: 30,
        published: true,
        extraCredit: false,
      },
      {
        ...grade,
        itemId: 'l2',
        label: 'Item l2',
        scoreGiven: 21.5,
        weight: 30,
        published: false,
        extraCredit: true,
      },
      {
        ...grade,
        itemId: 'exam',
        label: 'Item k1:exam',
        scoreGiven: 18,
        weight: 40,
        published: true,
        extraCredit: false,
      },
    ])
    expect(problems).toEqual(['results.csv:7 lineItemSourcedId: is not in lineItems (l9)'])
    expect(notes.filter((note) => note.startsWith('results'))).toEqual([
      'results.csv: scores are above the maximum',
      'results.csv: results without a score are left out (not submitted)',
      'results.csv: results of exempt learners are left out',
    ])
  })

  test('has problems where rows refer to missing ones, and warnings where nothing is kept of those', {
    tags: ['slow'],
  }, async () => {
    const { problems, warnings } = await readRoster({
      ...whole,
      'academicSessions.csv': sessions.replace(',y1,', ',y7,').replace('2026-12-18', '18.12.2026'),
      'classes.csv': classes.replaceAll('c1', 'c9').replace('t1,y1', 't1,y9'),
      'enrollments.csv': enrollments.replace('k1,,u1', 'k8,,u8').replace('Teacher', 'janitor'),
    })
    expect(problems).toEqual([
      'academicSessions.csv:3 endDate: must be a day such as 2026-08-31 (18.12.2026)',
      'classes.csv:3 termSourcedIds: is not in academicSessions (y9)',
      'enrollments.csv:2 classSourcedId: is not in classes (k8)',
      'enrollments.csv:2 userSourcedId: is not in users (u8)',
      'enrollments.csv:4 role: must be student or teacher (janitor)',
    ])
    expect(warnings).toEqual([
      'academicSessions.csv:3 parentSourcedId: is not in academicSessions (y7)',
      'classes.csv:2 courseSourcedId: is not in courses (c9)',
      'classes.csv:3 courseSourcedId: is not in courses (c9)',
    ])
  })

  test('leaves out what it still says about classes and enrolments that it removes, and counts it', {
    tags: ['slow'],
  }, async () => {
    const gone = { status: 'tobedeleted', dateLastModified: '2026-10-01T00:00:00Z' }
    const enrolment = (sourcedId: string, of: string, user: string): Cells => ({
      ...{ sourcedId, classSourcedId: of, userSourcedId: user, role: 'student' },
    })
    const result = (sourcedId: string, student: string): Cells => ({
      ...{ sourcedId, lineItemSourcedId: 'k1/exam', studentSourcedId: student },
      ...{ scoreStatus: 'fully graded', score: '7', scoreDate: '2026-09-20' },
    })
    const { recordsOf, problems, notes } = await readRoster({
      ...whole,
      'manifest.csv': manifest([...names, 'lineItems', 'results'], 'bulk', '1.2'),
      'users.csv': csv(published['1.2'].users, [ada, bert]),
      'classes.csv': csv(published['1.2'].classes, [
        { sourcedId: 'k1', title: 'Biology 5b', courseSourcedId: 'c1', schoolSourcedId: 's1' },
        { sourcedId: 'k2', title: 'Biology 5c', courseSourcedId: 'c1', schoolSourcedId: 's1', ...gone },
      ]),
      'enrollments.csv': csv(published['1.2'].enrollments, [
        enrolment('e1', 'k1', 'u1'),
        enrolment('e2', 'k2', 'u1'),
        { ...enrolment('e3', 'k1', 'u2'), ...gone },
      ]),
      'lineItems.csv': csv(published['1.2'].lineItems, [
        { sourcedId: 'k1/exam', title: 'Exam', classSourcedId: 'k1', schoolSourcedId: 's1' },
      ]),
      'results.csv': csv(published['1.2'].results, [result('r1', 'u1'), result('r2', 'u2')]),
    })
    expect(problems).toEqual([])
    expect(recordsOf('enrollments').map(({ courseId, userId }) => [courseId, userId])).toEqual([
      ['ext:k1', 'ext:u1'],
    ])
    expect(recordsOf('grades').map(({ learnerId }) => learnerId)).toEqual(['ext:u1'])
    expect(notes).toContain('enrollments.csv: enrolments of removed classes and users are left out')
    expect(notes).toContain('results.csv: results of removed classes, users and enrolments are left out')
  })

  test('has a problem where two rows of one user are not about the same person', {
    tags: ['slow'],
  }, async () => {
    const again = { ...ada, givenName: 'Augusta', email: 'augusta@example.org', username: 'augusta' }
    const { problems } = await readRoster(usersOnly(csv(published['1.1'].users, [ada, bert, again])))
    expect(problems).toEqual([
      'users.csv:4 sourcedId: is that of users.csv:2 as well, with another name or e-mail address (u1)',
    ])
  })

  test('has a problem in each status that is none', async () => {
    const rows = [
      { ...ada, status: 'bogus' },
      { ...bert, status: 'ToBeDeleted' },
    ]
    const { problems, notes } = await readRoster(usersOnly(csv(published['1.1'].users, rows)))
    expect(problems).toEqual(['users.csv:2 status: must be active or tobedeleted (bogus)'])
    expect(notes).toContain('users.csv: status is not spelled as specified (ToBeDeleted)')
  })

  test('has problems where its manifest names what it lacks', { tags: ['slow'] }, async () => {
    const text = `${manifest([...names, 'results'])}\r\nfile.lineItems,Bulk\r\nfile.categories,full`
    const { problems, notes } = await readRoster({ ...whole, 'manifest.csv': text })
    expect(problems).toEqual([
      'manifest.csv:11 file.results: names results.csv, which is missing; mark it absent (bulk)',
      'manifest.csv:14 file.lineItems: names lineItems.csv, which is missing; mark it absent (Bulk)',
      'manifest.csv:15 value: must be bulk, delta or absent (full)',
    ])
    expect(notes).toContain('manifest.csv: modes are not spelled as specified (Bulk)')
  })

  test('keeps an enrolment that one row removes and another has', async () => {
    const row = (sourcedId: string, status: string, user = 'u1'): Cells => ({
      ...{ sourcedId, status, dateLastModified: '2026-09-01T00:00:00Z' },
      ...{ classSourcedId: 'k1', userSourcedId: user, role: 'student' },
    })
    const { recordsOf, removedOf, notes } = await readRoster({
      'manifest.csv': manifest(['enrollments'], 'delta'),
      'enrollments.csv': csv(published['1.2'].enrollments, [
        ...[row('e1', 'active'), row('e2', 'tobedeleted'), row('e3', 'tobedeleted', 'u2')],
        ...[row('e4', 'tobedeleted', 'u3'), row('e5', 'active', 'u3')],
      ]),
    })
    expect(recordsOf('enrollments').map(({ userId }) => userId)).toEqual(['ext:u1', 'ext:u3'])
    expect(removedOf('enrollments')).toEqual([{ courseId: 'ext:k1', userId: 'ext:u2', role: 'learner' }])
    expect(notes).toContain(
      'enrollments.csv: several rows of one enrolment; read the last (2 times: ext:k1, ext:u1, learner, ext:k1, ext:u3, learner)',
    )
  })
})
