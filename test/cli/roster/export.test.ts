import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { type TestCli, test } from '../../helpers/cli.ts'
import { makeSmallSchool } from './small-school.ts'

/** Runs an export that must succeed; returns what it printed on standard error. */
async function exported(cli: TestCli, line: string): Promise<string> {
  const ran = await cli.run(`roster export ${line}`)
  expect(ran, ran.stderr).toMatchObject({ code: 0, stdout: '' })
  return ran.stderr
}

/** Returns the files of a folder with their lines. */
function linesIn(cli: TestCli, folder: string): Record<string, string[]> {
  const names = readdirSync(join(cli.cwd, folder)).sort()
  return Object.fromEntries(
    names.map((name) => {
      const text = readFileSync(join(cli.cwd, folder, name), 'utf8')
      expect(text.endsWith('\r\n'), name).toBe(true)
      return [name, text.slice(0, -2).split('\r\n')]
    }),
  )
}

describe('a OneRoster package', () => {
  test('has all files of version 1.2', { tags: ['slow'] }, async ({ local }) => {
    await makeSmallSchool(local)
    const told = await exported(local, '--format oneroster school --org-name "Sea School"')
    expect(linesIn(local, 'school')).toEqual({
      'academicSessions.csv': [
        'sourcedId,status,dateLastModified,title,type,startDate,endDate,parentSourcedId,schoolYear',
        'T1,,,Autumn 2025,term,2025-09-01,2026-01-31,,2026',
        'T2,,,Open,term,2000-01-01,2099-12-31,,2099',
        'no-term,,,No term,term,2000-01-01,2099-12-31,,2099',
      ],
      'categories.csv': [
        'sourcedId,status,dateLastModified,title,weight',
        'no-category,,,Grades,',
        'BIO:Essay,,,Essay,40',
        'BIO:Exam,,,Exam,60',
      ],
      'classes.csv': [
        'sourcedId,status,dateLastModified,title,grades,courseSourcedId,classCode,classType,location,schoolSourcedId,termSourcedIds,subjects,subjectCodes,periods',
        'ART,,,Art,,ART,,scheduled,,sea-school,no-term,,,',
        'BIO,,,"Biology, ""marine""",,BIO,,scheduled,,sea-school,T1,,,',
      ],
      'courses.csv': [
        'sourcedId,status,dateLastModified,schoolYearSourcedId,title,courseCode,grades,orgSourcedId,subjects,subjectCodes',
        'ART,,,,Art,,,sea-school,,',
        'BIO,,,,"Biology, ""marine""",,,sea-school,,',
      ],
      'enrollments.csv': [
        'sourcedId,status,dateLastModified,classSourcedId,schoolSourcedId,userSourcedId,role,primary,beginDate,endDate',
        'ART:u4:student,,,ART,sea-school,u4,student,false,2026-01-12,',
        'ART:u7:teacher,,,ART,sea-school,u7,teacher,true,2026-01-12,',
        'BIO:u1:student,,,BIO,sea-school,u1,student,false,2026-01-10,',
        'BIO:u2:teacher,,,BIO,sea-school,u2,teacher,true,2026-01-09,',
      ],
      'lineItems.csv': [
        'sourcedId,status,dateLastModified,title,description,assignDate,dueDate,classSourcedId,categorySourcedId,academicSessionSourcedId,resultValueMin,resultValueMax,schoolSourcedId',
        'ART:$course,,,Course grade,,2000-01-01,2099-12-31,ART,no-category,no-term,0,100,sea-school',
        'BIO:$course,,,Course grade,,2025-09-01,2026-01-31,BIO,no-category,T1,0,100,sea-school',
        'BIO:Essay,,,Essay,,2025-09-01,2026-01-31,BIO,BIO:Essay,T1,0,100,sea-school',
        'BIO:exam-1,,,Exam,,2025-09-01,2026-01-31,BIO,BIO:Exam,T1,0,20,sea-school',
      ],
      'manifest.csv': [
        'propertyName,value',
        'manifest.version,1.0',
        'oneroster.version,1.2',
        ...[
          'academicSessions,bulk',
          'categories,bulk',
          'classResources,absent',
          'classes,bulk',
          'courseResources,absent',
          'courses,bulk',
          'demographics,absent',
          'enrollments,bulk',
          'lineItemLearningObjectiveIds,absent',
          'lineItemScoreScales,absent',
          'lineItems,bulk',
          'orgs,bulk',
          'resources,absent',
          'resultLearningObjectiveIds,absent',
          'resultScoreScales,absent',
          'results,bulk',
          'roles,bulk',
          'scoreScales,absent',
          'userProfiles,absent',
          'userResources,absent',
          'users,bulk',
        ].map((line) => `file.${line}`),
        'source.systemName,learnctl',
        'source.systemCode,learnctl',
      ],
      'orgs.csv': [
        'sourcedId,status,dateLastModified,name,type,identifier,parentSourcedId',
        'sea-school,,,Sea School,school,,',
      ],
      'results.csv': [
        'sourcedId,status,dateLastModified,lineItemSourcedId,studentSourcedId,scoreStatus,score,scoreDate,comment,textScore,classSourcedId,inProgress,incomplete,late,missing',
        'ART:$course:u4,,,ART:$course,u4,fully graded,90,2026-02-03,,,ART,false,false,false,false',
        'BIO:$course:u1,,,BIO:$course,u1,fully graded,80,2026-02-02,,,BIO,false,false,false,false',
        'BIO:exam-1:u1,,,BIO:exam-1,u1,fully graded,17,2026-02-01,,,BIO,false,false,false,false',
      ],
      'roles.csv': [
        'sourcedId,status,dateLastModified,userSourcedId,roleType,role,beginDate,endDate,orgSourcedId,userProfileSourcedId',
        'u2:teacher,,,u2,primary,teacher,,,sea-school,',
        'u1:student,,,u1,primary,student,,,sea-school,',
        'u7:teacher,,,u7,primary,teacher,,,sea-school,',
        'u3:student,,,u3,primary,student,,,sea-school,',
        'u4:student,,,u4,primary,student,,,sea-school,',
        'u5:student,,,u5,primary,student,,,sea-school,',
      ],
      'users.csv': [
        'sourcedId,status,dateLastModified,enabledUser,username,userIds,givenName,familyName,middleName,identifier,email,sms,phone,agentSourcedIds,grades,password,userMasterIdentifier,preferredGivenName,preferredMiddleName,preferredFamilyName,primaryOrgSourcedId,pronouns',
        'u2,,,true,Bob@b.example,,Bob,"O\'Neil, Jr.",,,Bob@b.example,,,,,,,,,,sea-school,',
        'u1,,,true,ada,,Ada,Lovelace,,,ada@b.example,,,,,,,Countess,,Ada,sea-school,',
        'u7,,,true,boss@b.example,,-,-,,,boss@b.example,,,,,,,,,,sea-school,',
        'u3,,,false,cy@b.example,,=1+1,"two\nlines",,,cy@b.example,,,,,,,,,,sea-school,',
        'u4,,,true,dee@b.example,,Dee,Dee,,,dee@b.example,,,,,,,Dee,,,sea-school,',
        'u5,,,true,eve@b.example,,-,-,,,eve@b.example,,,,,,,,,,sea-school,',
      ],
    })
    expect(told.split('\n')).toEqual([
      'Wrote OneRoster 1.2 to school: 2 terms, 6 users, 2 courses, 4 enrolments, 3 grades',
      'note: 1 term without a first or last day: 2000-01-01 and 2099-12-31 are written, since OneRoster requires both',
      'note: 1 course without a term: written with the session no-term, since OneRoster requires one',
      'note: The descriptions of 1 course are not included: OneRoster has none',
      'note: The status of 1 course is not included: OneRoster has none, and new courses are drafts',
      'note: 1 unpublished grade left out',
      'note: 2 users without a first or last name: - is written, since OneRoster requires both',
      'note: 1 user with a display name only: its parts are written as first and last name, since OneRoster requires both',
      'note: 1 inactive enrolment left out: OneRoster has only active ones',
      'note: 1 admin and 1 analyst without a course left out: a roster has the people of courses, and gives no rights',
      'note: OneRoster does not hold 1 lesson, 3 groups with 4 members',
      'note: 1 cell would be a formula in a spreadsheet: the files are for systems, and not escaped',
      '',
    ])
  })

  test('of version 1.1 has roles in users, and neither preferred names nor weights', {
    tags: ['slow'],
  }, async ({ local }) => {
    await makeSmallSchool(local)
    const told = await exported(
      local,
      '--format oneroster school --oneroster-version 1.1 --org-id S1 --org-name S',
    )
    const files = linesIn(local, 'school')
    expect(Object.keys(files)).not.toContain('roles.csv')
    expect(files['manifest.csv']?.slice(0, 5)).toEqual([
      'propertyName,value',
      'manifest.version,1.0',
      'oneroster.version,1.1',
      'file.academicSessions,bulk',
      'file.categories,bulk',
    ])
    expect(files['users.csv']?.slice(0, 3)).toEqual([
      'sourcedId,status,dateLastModified,enabledUser,orgSourcedIds,role,username,userIds,givenName,familyName,middleName,identifier,email,sms,phone,agentSourcedIds,grades,password',
      'u2,,,true,S1,teacher,Bob@b.example,,Bob,"O\'Neil, Jr.",,,Bob@b.example,,,,,',
      'u1,,,true,S1,student,ada,,Ada,Lovelace,,,ada@b.example,,,,,',
    ])
    expect(files['categories.csv']?.slice(0, 2)).toEqual([
      'sourcedId,status,dateLastModified,title',
      'no-category,,,Grades',
    ])
    expect(files['lineItems.csv']?.[0]).toBe(
      'sourcedId,status,dateLastModified,title,description,assignDate,dueDate,classSourcedId,categorySourcedId,gradingPeriodSourcedId,resultValueMin,resultValueMax',
    )
    expect(files['results.csv']?.slice(0, 2)).toEqual([
      'sourcedId,status,dateLastModified,lineItemSourcedId,studentSourcedId,scoreStatus,score,scoreDate,comment',
      'ART:$course:u4,,,ART:$course,u4,fully graded,90,2026-02-03,',
    ])
    expect(told).toContain('note: The display names of 1 user are not included: OneRoster 1.1 has none\n')
    expect(told).toContain('note: The weights of 2 items are not included: OneRoster 1.1 has none\n')
  })

  test('holds only the chosen courses, their people and their term', { tags: ['slow'] }, async ({
    local,
  }) => {
    await makeSmallSchool(local)
    for (const scope of [
      '--course ext:BIO',
      `--course 'Biology, "marine"'`,
      '--term "Autumn 2025"',
      '--term ext:T1',
      '--term ext:T1 --course ext:BIO --course ext:ART',
    ]) {
      expect(await exported(local, `--format oneroster school --force ${scope}`)).toContain(
        'Wrote OneRoster 1.2 to school: 1 term, 3 users, 1 course, 2 enrolments, 2 grades\n',
      )
    }
    const firsts = (lines: readonly string[] = []) => lines.slice(1).map((line) => line.split(',')[0])
    const files = linesIn(local, 'school')
    expect(firsts(files['users.csv'])).toEqual(['u2', 'u1', 'u3'])
    expect(firsts(files['academicSessions.csv'])).toEqual(['T1'])
    expect(firsts(files['classes.csv'])).toEqual(['BIO'])
  })

  test('is refused for a title that several courses have, or none', { tags: ['slow'] }, async ({ local }) => {
    await makeSmallSchool(local)
    await local.run('courses create --title Art --external-id ART-2')
    const twice = await local.run('roster export --format canvas school --course Art')
    expect(twice.code).toBe(2)
    expect(twice.stderr).toBe(
      'error: 2 courses are called Art\n  ART\n  ART-2\n  hint: Use the external id\n',
    )
    const none = await local.run('roster export --format canvas school --course Arts')
    expect(none.code).toBe(3)
    expect(none.stderr).toContain('error: Course Arts not found\n')
    expect(none.stderr).toContain('Did you mean Art?')
  })

  test('holds only the chosen parts', { tags: ['slow'] }, async ({ local }) => {
    await makeSmallSchool(local)
    await exported(local, '--format oneroster school --only users,terms')
    expect(Object.keys(linesIn(local, 'school'))).toEqual([
      'academicSessions.csv',
      'manifest.csv',
      'orgs.csv',
      'roles.csv',
      'users.csv',
    ])
    const ran = await local.run('roster export --format oneroster other --only groups')
    expect(ran).toMatchObject({
      code: 2,
      stderr: expect.stringContaining(
        '--only groups is not supported: OneRoster holds terms, users, courses, enrollments, grades',
      ),
    })
  })

  test('has derived ids that stay apart, whatever the ids have in them', async ({ local }) => {
    const users = ['a', 'a:b', 'b', 'x%3Ay', 'x:y'].map(
      (id, n) => `{externalId: '${id}', email: p${n}@b.example}`,
    )
    const pairs = [
      ['c', 'a:b'],
      ['c:a', 'b'],
      ['c', 'x%3Ay'],
      ['c', 'x:y'],
    ]
    const stdin = `learnctl: 1
users: [${users.join()}]
courses: [{externalId: c, title: C}, {externalId: 'c:a', title: CA}]
enrollments: [${pairs.map(([course, user]) => `{courseId: '${course}', userId: '${user}', enrolledAt: 2026-01-01}`).join()}]
`
    expect((await local.run('apply - --yes', { stdin })).code).toBe(0)
    await exported(local, '--format oneroster school')
    const ids = linesIn(local, 'school')
      ['enrollments.csv']?.slice(1)
      .map((line) => line.split(',')[0])
    expect(ids).toEqual(['c:a%3Ab:student', 'c:x%253Ay:student', 'c:x%3Ay:student', 'c%3Aa:b:student'])
  })

  test('has one score of each learner and item, with the maximum of the item', async ({ local }) => {
    const grade = (learner: string, more: string) =>
      `{courseId: C, learnerId: ${learner}, itemId: exam, ${more}}`
    const stdin = `learnctl: 1
users: [{externalId: a, email: a@b.example}, {externalId: b, email: b@b.example}]
courses: [{externalId: C, title: C}]
enrollments: [{courseId: C, userId: a}, {courseId: C, userId: b}]
grades:
  - ${grade('a', 'scoreGiven: 5, scoreMaximum: 20, gradedAt: 2026-01-01, source: manual')}
  - ${grade('a', 'scoreGiven: 7, scoreMaximum: 10, gradedAt: 2026-01-02, source: canvas')}
  - ${grade('b', 'scoreGiven: 10, scoreMaximum: 20, gradedAt: 2026-01-01, source: manual, weight: 30')}
`
    const applied = await local.run('apply - --yes', { stdin })
    expect(applied, applied.stderr).toMatchObject({ code: 0 })
    const told = await exported(local, '--format oneroster school')
    const files = linesIn(local, 'school')
    expect(files['results.csv']?.slice(1)).toEqual([
      'C:exam:a,,,C:exam,a,fully graded,7,2026-01-02,,,C,false,false,false,false',
      'C:exam:b,,,C:exam,b,fully graded,5,2026-01-01,,,C,false,false,false,false',
    ])
    expect(told).toContain('note: 1 grade of further sources left out')
    expect(told).toContain('note: 1 score converted to the maximum of the item')
  })
})

describe('the files of a Canvas SIS import', () => {
  test('have groups of courses as sections', { tags: ['slow'] }, async ({ local }) => {
    await makeSmallSchool(local)
    const told = await exported(local, '--format canvas sis')
    expect(linesIn(local, 'sis')).toEqual({
      'courses.csv': [
        'course_id,short_name,long_name,term_id,status',
        'ART,ART,Art,,unpublished',
        'BIO,BIO,"Biology, ""marine""",T1,published',
      ],
      'enrollments.csv': [
        'course_id,user_id,role,section_id,status',
        'ART,u4,student,,active',
        'ART,u7,teacher,,active',
        'BIO,u1,student,G1,active',
        'BIO,u1,student,G2,active',
        'BIO,u2,teacher,,active',
        'BIO,u3,student,G1,inactive',
      ],
      'groups.csv': ['group_id,name,status', 'K1,Choir,available'],
      'groups_membership.csv': ['group_id,user_id,status', 'K1,u4,accepted'],
      'sections.csv': ['section_id,course_id,name,status', 'G1,BIO,5b,active', 'G2,BIO,5c,active'],
      'terms.csv': [
        'term_id,name,status,start_date,end_date',
        'T1,Autumn 2025,active,2025-09-01T00:00:00Z,2026-01-31T23:59:59Z',
        'T2,Open,active,,',
      ],
      'users.csv': [
        'user_id,login_id,first_name,last_name,full_name,short_name,email,status',
        'u2,Bob@b.example,Bob,"O\'Neil, Jr.",,,Bob@b.example,active',
        'u1,ada,Ada,Lovelace,,Countess Ada,ada@b.example,active',
        'u7,boss@b.example,,,,,boss@b.example,active',
        'u3,cy@b.example,=1+1,"two\nlines",,,cy@b.example,suspended',
        'u4,dee@b.example,,,Dee Dee,Dee Dee,dee@b.example,active',
        'u5,eve@b.example,,,,,eve@b.example,active',
      ],
    })
    expect(told.split('\n')).toEqual([
      'Wrote Canvas SIS to sis: 2 terms, 6 users, 2 courses, 3 groups, 5 enrolments',
      'note: 2 users without a name: Canvas shows an empty name',
      'note: The days of 5 enrolments are not included: Canvas SIS has none',
      'note: The descriptions of 1 course are not included: Canvas SIS has none',
      'note: 1 admin and 1 analyst without a course left out: a roster has the people of courses, and gives no rights',
      'note: Canvas SIS does not hold 1 lesson, 4 grades',
      'note: 1 cell would be a formula in a spreadsheet: the files are for systems, and not escaped',
      '',
    ])
  })
})

describe('the files for Moodle', () => {
  test('have the courses of a user in one row', { tags: ['slow'] }, async ({ local }) => {
    await makeSmallSchool(local)
    const told = await exported(local, '--format moodle moodle --category 3')
    expect(linesIn(local, 'moodle')).toEqual({
      'courses.csv': [
        'shortname,fullname,category,idnumber,visible,summary',
        'ART,Art,3,ART,0,',
        'BIO,"Biology, ""marine""",3,BIO,1,About the sea',
      ],
      'users.csv': [
        'username,firstname,lastname,email,idnumber,suspended,course1,role1,enrolstatus1,enroltimestart1,group1,course2,role2,enrolstatus2,enroltimestart2,group2,cohort1',
        'bob@b.example,Bob,"O\'Neil, Jr.",Bob@b.example,u2,0,BIO,editingteacher,,2026-01-09,,,,,,,',
        'ada,Ada,Lovelace,ada@b.example,u1,0,BIO,student,,2026-01-10,5b,BIO,student,,2026-01-10,5c,',
        'boss@b.example,-,-,boss@b.example,u7,0,ART,editingteacher,,2026-01-12,,,,,,,',
        'cy@b.example,=1+1,"two\nlines",cy@b.example,u3,1,BIO,student,1,2026-01-11,5b,,,,,,',
        'dee@b.example,Dee,Dee,dee@b.example,u4,0,ART,student,,2026-01-12,,,,,,,Choir',
        'eve@b.example,-,-,eve@b.example,u5,0,,,,,,,,,,,',
      ],
    })
    expect(told).toContain('Wrote Moodle to moodle: 6 users, 2 courses, 3 groups, 5 enrolments\n')
    expect(told).toContain('note: Moodle does not hold 2 terms, 1 lesson, 4 grades\n')
  })

  test('need a category for courses, by number or path', { tags: ['slow'] }, async ({ local }) => {
    await makeSmallSchool(local)
    const ran = await local.run('roster export --format moodle moodle')
    expect(ran).toMatchObject({ code: 2, stderr: expect.stringContaining('--category is required') })
    await exported(local, '--format moodle moodle --category "Imported / Sea"')
    expect(linesIn(local, 'moodle')['courses.csv']?.slice(0, 2)).toEqual([
      'shortname,fullname,category_path,idnumber,visible,summary',
      'ART,Art,Imported / Sea,ART,0,',
    ])
    await exported(local, '--format moodle only --only enrollments')
    expect(linesIn(local, 'only')).toEqual({
      'users.csv': expect.arrayContaining(['ada,BIO,student,,2026-01-10']),
    })
  })
})

describe('a package', () => {
  test('is the same byte for byte every time, in a zip as well, in any time zone, for its user alone', {
    tags: ['slow'],
  }, async ({ local }) => {
    await makeSmallSchool(local)
    const before = process.env['TZ']
    try {
      for (const [index, zone] of ['UTC', 'Asia/Tokyo', 'America/New_York'].entries()) {
        process.env['TZ'] = zone
        await exported(local, `--format oneroster s${index}.zip`)
        await exported(local, `--format oneroster s${index}`)
      }
    } finally {
      if (before === undefined) delete process.env['TZ']
      else process.env['TZ'] = before
    }
    const bytes = (name: string) => readFileSync(join(local.cwd, name)).toString('hex')
    expect(bytes('s1.zip')).toBe(bytes('s0.zip'))
    expect(bytes('s2.zip')).toBe(bytes('s0.zip'))
    expect(linesIn(local, 's1')).toEqual(linesIn(local, 's0'))
    const modeOf = (name: string) => statSync(join(local.cwd, name)).mode & 0o777
    expect(['s0', 's0/users.csv', 's0.zip'].map(modeOf)).toEqual([0o700, 0o600, 0o600])
  })

  test('replaces another only with --force, and never other files', { tags: ['slow'] }, async ({ local }) => {
    await makeSmallSchool(local)
    await exported(local, '--format oneroster p-1')
    await exported(local, '--format oneroster p-1.zip')
    for (const name of ['p-1', 'p-1.zip']) {
      expect(await local.run(`roster export --format canvas ${name}`)).toMatchObject({
        code: 2,
        stderr: `error: ${name} already exists\n  hint: Use --force to replace it\n`,
      })
      await exported(local, `--format canvas ${name} --force`)
    }
    expect(Object.keys(linesIn(local, 'p-1'))).toContain('sections.csv')
    expect(Object.keys(linesIn(local, 'p-1'))).not.toContain('manifest.csv')
    writeFileSync(join(local.cwd, 'p-1', 'notes.txt'), 'mine')
    mkdirSync(join(local.cwd, 'empty'))
    writeFileSync(join(local.cwd, 'f-1'), '')
    for (const [name, why] of [
      ['p-1', 'p-1 has other files: notes.txt'],
      ['.', '. is the working directory or contains it'],
      ['f-1', 'f-1 is not a directory'],
      ['missing/out', 'The folder of missing/out does not exist'],
      ['missing/out.zip', 'The folder of missing/out.zip does not exist'],
      ['-', 'Standard output is not supported'],
    ] as const) {
      expect(await local.run(`roster export --format canvas --force ${name}`)).toMatchObject({
        code: 2,
        stderr: expect.stringContaining(why),
      })
    }
    await exported(local, '--format canvas empty')
    expect(readdirSync(local.cwd).filter((name) => name.includes('.part'))).toEqual([])
  })

  test('is not left behind by an export that fails', { tags: ['slow'] }, async ({ local }) => {
    await makeSmallSchool(local)
    const before = readdirSync(local.cwd)
    for (const line of [
      '--format oneroster out --course ext:none',
      '--format canvas out.zip --term ext:none',
    ]) {
      expect(await local.run(`roster export ${line}`)).toMatchObject({ code: 3 })
    }
    const aborted = AbortSignal.abort(new Error('stopped'))
    expect((await local.run('roster export --format canvas out', { signal: aborted })).code).not.toBe(0)
    expect(readdirSync(local.cwd)).toEqual(before)
  })

  test('refuses flags of other formats', async ({ local }) => {
    for (const [line, why] of [
      [
        '--format canvas out --oneroster-version 1.1',
        '--oneroster-version is not supported: it is for --format oneroster',
      ],
      ['--format oneroster out --category 1', '--category is not supported: it is for --format moodle'],
      ['--format sis out', '--format'],
      ['out', '--format'],
    ] as const) {
      expect(await local.run(`roster export ${line}`)).toMatchObject({
        code: 2,
        stderr: expect.stringContaining(why),
      })
    }
  })
})
