import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { type TestCli, test } from '../../helpers/cli.ts'
import { ran } from '../../helpers/result.ts'

/** Writes files to the folder of a run. */
function put(cli: TestCli, files: Readonly<Record<string, string | Uint8Array>>): void {
  for (const [name, content] of Object.entries(files)) writeFileSync(join(cli.cwd, name), content)
}

/** Returns the roles and statuses of all enrolments after an apply. */
async function enrolled(cli: TestCli): Promise<string[]> {
  const { stdout } = await cli.run('enrollments list -o json --all')
  const found: { userExternalId: string; role: string }[] = JSON.parse(stdout)
  return found.map(({ userExternalId, role }) => `${userExternalId} ${role}`).sort()
}

const moodle = `username,firstname,lastname,email,course1,role1
ada,Ada,Lovelace,ada@schule.example,BIO,schueler
cleo,Cleo,Curie,cleo@schule.example,BIO,Lehrkraft
otto,Otto,Hahn,otto@schule.example,BIO,hausmeister
`
const moodleCourses = 'shortname,fullname\nBIO,Biologie\n'
const meanings = ['schueler=learner', 'Lehrkraft=instructor', 'hausmeister=none'].flatMap((pair) => [
  '--map-value',
  `role:${pair}`,
])

describe('a roster with roles of its own', () => {
  test('has problems that name the flag which solves them', async ({ local }) => {
    put(local, { 'users.csv': moodle, 'courses.csv': moodleCourses })
    const { stderr } = await ran(local, 'roster apply users.csv --yes', 2)
    expect(stderr).toContain(
      'users.csv:3: role1 must be one of student, teacher, editingteacher, manager, coursecreator, guest, user, frontpage, not "Lehrkraft"; say what it means: --map-value "role:Lehrkraft=learner|instructor|none"\n',
    )
    const { stdout } = await local.run('roster validate users.csv')
    expect(stdout).toContain('; say what it means: --map-value "role:schueler=learner|instructor|none"\n')
  })

  test('is read by --map-value, which --save-mapping keeps for --mapping', { tags: ['slow'] }, async ({
    local,
  }) => {
    put(local, { 'users.csv': moodle })
    await local.run('courses create --title Biologie --external-id BIO')
    const words = ['roster', 'validate', 'users.csv', ...meanings, '--save-mapping', 'schule.yaml']
    const validated = await ran(local, words)
    expect(validated.stderr).toContain('with 3 users, 2 enrolments')
    expect(validated.stderr).toContain('takes it: --mapping schule.yaml\n')
    expect(readFileSync(join(local.cwd, 'schule.yaml'), 'utf8')).toBe(
      'values:\n  role:\n    schueler: learner\n    Lehrkraft: instructor\n    hausmeister: none\n',
    )
    await ran(local, 'roster apply users.csv --yes --mapping schule.yaml')
    expect(await enrolled(local)).toEqual(['ada learner', 'cleo instructor'])
    await ran(local, 'roster diff users.csv --mapping schule.yaml')
  })

  test('may be of Canvas, by name or by number', { tags: ['slow'] }, async ({ local }) => {
    put(local, {
      'enrollments.csv':
        'course_id,user_id,role,role_id,status\nBIO,ada,Teilnehmer,,active\nBIO,cleo,TeacherEnrollment,42,active\nBIO,otto,,43,active\n',
      'users.csv':
        'user_id,login_id,email,status\nada,ada,ada@b.example,active\ncleo,cleo,cleo@b.example,active\notto,otto,otto@b.example,active\n',
      'courses.csv': 'course_id,short_name,long_name,status\nBIO,BIO,Biologie,active\n',
    })
    const refused = await local.run('roster validate .')
    expect(refused.stdout).toContain('--map-value "role:Teilnehmer=learner|instructor|none"')
    expect(refused.stdout).toContain('--map-value "role_id:43=learner|instructor|none"')
    const flags = ['role:teilnehmer=student', 'role_id:42=learner', 'role:43=instructor']
    const words = flags.flatMap((pair) => ['--map-value', pair])
    await ran(local, ['roster', 'apply', '.', '--yes', ...words])
    expect(await enrolled(local)).toEqual(['ada learner', 'cleo learner', 'otto instructor'])
    const { stdout } = await local.run('users list -o csv --columns externalId,role')
    expect(stdout).toContain('otto,instructor')
    expect(stdout).toContain('cleo,learner')
  })

  test('may be of OneRoster, whose extensions begin with ext:', { tags: ['slow'] }, async ({ local }) => {
    put(local, {
      'users.csv':
        'sourcedId,enabledUser,role,username,givenName,familyName,email\n1,true,ext:referendar,a,A,A,a@b.example\n2,true,ext:Hausmeister,b,B,B,b@b.example\n',
    })
    const { stderr } = await local.run('roster validate users.csv')
    expect(stderr).toContain('unknown roles, which --map-value can give a meaning; new users become learners')
    const flags = ['role:ext:Referendar=teacher', 'role:ext:hausmeister=none']
    const words = flags.flatMap((pair) => ['--map-value', pair])
    const applied = await local.run(['roster', 'apply', 'users.csv', '--yes', ...words])
    expect(applied.stderr).toContain('people without a role in an academy are left out (none)')
    const { stdout } = await local.run('users list -o csv --columns externalId,role')
    expect(stdout).toContain('1,instructor')
    expect(stdout).not.toContain('\n2,')
  })

  test('may be of Kolibri', { tags: ['slow'] }, async ({ local }) => {
    put(local, { 'kolibri.csv': 'USERNAME,FULL_NAME,USER_TYPE\nada,Ada,Lernende\n' })
    const words = ['roster', 'validate', 'kolibri.csv', '--email-domain', 'schule.example']
    const refused = await local.run(words)
    expect(refused.stdout).toContain('--map-value "USER_TYPE:Lernende=learner|instructor|none"')
    expect(await local.run([...words, '--map-value', 'role:Lernende=learner'])).toMatchObject({ code: 0 })
  })

  for (const [flag, message] of [
    [
      ['--map-value', 'role:Lehrkraft=instruktor'],
      '--map-value "role:Lehrkraft=instruktor" must be instructor, analyst, learner, none or a role of the format, not "instruktor"; did you mean instructor?',
    ],
    [['--map', 'Rolle=rolle1'], '--map "Rolle=rolle1" names an unknown field: "rolle1"'],
    [['--map-value', 'password:a=b'], 'is a secret, which a mapping must not hold'],
  ] as const) {
    test(`refuses ${flag.join(' ')}`, async ({ local }) => {
      put(local, { 'users.csv': moodle })
      const { stderr } = await ran(local, ['roster', 'validate', 'users.csv', ...flag], 2)
      expect(stderr).toContain(message)
    })
  }
})

describe('a roster of a German spreadsheet', () => {
  const users =
    'Benutzername;Vorname;Nachname;E-Mail-Adresse;Klasse;Rolle;Gesperrt;Beginn\r\nmüller;Jürgen;Müller;juergen@schule.example;BIO;Schüler;Nein;01.09.2026\r\nweiß;Änne;Weiß;aenne@schule.example;BIO;Lehrkraft;Nein;01.09.2026\r\n'
  const columns = [
    'Benutzername=username',
    'Vorname=firstname',
    'Nachname=lastname',
    'E-Mail-Adresse=email',
    'Klasse=course1',
    'Rolle=role1',
    'Gesperrt=suspended',
    'Beginn=enroltimestart1',
  ].flatMap((pair) => ['--map', pair])
  const values = ['role:Schüler=learner', 'role:Lehrkraft=instructor', 'Gesperrt:Nein=no'].flatMap((pair) => [
    '--map-value',
    pair,
  ])

  test('is read with its columns, words, dates and umlauts', { tags: ['slow'] }, async ({ local }) => {
    put(local, { 'schule.csv': Buffer.from(users, 'latin1') })
    await local.run('courses create --title Biologie --external-id BIO')
    const words = [...columns, ...values, '--date-format', 'DD.MM.YYYY', '--save-mapping', 'schule.yaml']
    await ran(local, ['roster', 'apply', 'schule.csv', '--yes', ...words])
    const { stdout } = await local.run('users list -o csv --columns externalId,profile.lastName')
    expect(stdout).toContain('weiß,Weiß')
    const listed = await local.run('enrollments list -o json')
    expect(JSON.parse(listed.stdout)[0]).toMatchObject({ enrolledAt: '2026-09-01T00:00:00.000Z' })
    await ran(local, 'roster diff schule.csv --mapping schule.yaml')
  })

  test('whose columns are not those of its format is refused with the flag that names them', async ({
    local,
  }) => {
    put(local, { 'schule.csv': 'Benutzername;E-Mail\nada;ada@schule.example\n' })
    const { stderr } = await ran(local, 'roster validate schule.csv --format moodle', 2)
    expect(stderr).toBe(`error: schule.csv has no file of Moodle
  schule.csv has the columns Benutzername, E-Mail
  Moodle has courses: shortname, fullname
  Moodle has users: username, firstname, lastname
  hint: Give columns their names in the format: --map "Benutzername=username"
`)
  })

  test('in another encoding is read with --encoding', async ({ local }) => {
    const bytes = Buffer.from([...'username,firstname,email\nu,J'].map((letter) => letter.charCodeAt(0)))
    const rest = Buffer.from('rgen,u@schule.example\n')
    put(local, { 'mac.csv': Buffer.concat([bytes, Buffer.from([0x9f]), rest]) })
    const { code, stderr } = await local.run('roster validate mac.csv')
    expect(code).toBe(2)
    expect(stderr).toContain('hint: Name its encoding: --encoding')
    await ran(local, 'roster apply mac.csv --yes --encoding macintosh')
    const { stdout } = await local.run('users list -o csv --columns profile.firstName')
    expect(stdout).toContain('Jürgen')
  })

  test('has problems that name the format of its dates', { tags: ['slow'] }, async ({ local }) => {
    put(local, {
      'terms.csv': 'term_id;name;status;start_date;end_date\nT1;Herbst;active;01.09.2026;46053\n',
    })
    const { stdout } = await local.run('roster validate terms.csv')
    expect(stdout).toContain('must be a day such as 2026-08-31; use --date-format DD.MM.YYYY\n')
    expect(stdout).toContain('must be a day such as 2026-08-31; use --date-format excel\n')
    put(local, {
      'terms.csv': 'term_id;name;status;start_date;end_date\nT1;Herbst;active;1.9.2026;31.1.2027\n',
    })
    await ran(local, 'roster apply terms.csv --yes --date-format DD.MM.YYYY')
    const { stdout: terms } = await local.run('terms list -o csv --columns startDate,endDate')
    expect(terms).toContain('2026-09-01,2027-01-31')
  })

  test('as a workbook is refused with what to do', async ({ local }) => {
    put(local, { 'schule.xlsx': 'PK\u0003\u0004' })
    const { stderr } = await ran(local, 'roster validate schule.xlsx', 2)
    expect(stderr).toContain('Cannot read schule.xlsx: spreadsheets are not supported')
  })
})

describe('a roster on standard input', () => {
  const stdin = 'username,firstname,lastname,email\nada,Ada,Lovelace,ada@b.example\n'

  test('is a single CSV file', { tags: ['slow'] }, async ({ local }) => {
    expect((await local.run('roster validate -', { stdin })).stderr).toContain(
      'Standard input is valid: Moodle with 1 user\n',
    )
    const wrong = await local.run('roster apply - --yes', { stdin: stdin.replace('ada@b.example', 'a b') })
    expect(wrong.stderr).toContain('  hint: Leave these rows out: --skip-invalid\n')
    expect(await local.run('roster diff -', { stdin })).toMatchObject({ code: 9 })
    await ran(local, 'roster apply - --yes', 0, { stdin })
    const { stdout } = await local.run('users list -o csv --columns externalId,managedBy')
    expect(stdout).toContain('ada,roster:stdin')
    put(local, { 'users.csv': stdin })
    expect(await local.run('roster diff users.csv -', { stdin })).toMatchObject({ code: 0 })
  })

  test('is refused if it is a zip file, or both sides of a comparison', async ({ local }) => {
    const zipped = await ran(local, 'roster validate -', 2, { stdin: 'PK\u0003\u0004' })
    expect(zipped.stderr).toContain('Cannot read standard input: it is a zip file')
    expect(zipped.stderr).toContain('hint: Standard input takes a single CSV file')
    const both = await ran(local, 'roster diff - -', 2, { stdin })
    expect(both.stderr).toContain('Standard input can be one side only')
  })
})

test('people of Kolibri need --email-domain only if their user names are no addresses', {
  tags: ['slow'],
}, async ({ local }) => {
  put(local, { 'kolibri.csv': 'USERNAME,FULL_NAME,USER_TYPE\nada@b.example,Ada,LEARNER\n' })
  expect(await local.run('roster apply kolibri.csv --yes')).toMatchObject({ code: 0 })
  put(local, { 'kolibri.csv': 'USERNAME,FULL_NAME,USER_TYPE\nada,Ada,LEARNER\n' })
  for (const verb of ['validate', 'diff', 'apply']) {
    const { stderr } = await ran(local, `roster ${verb} kolibri.csv`, 2)
    expect(stderr).toContain(
      'hint: Make addresses of user names, if people have none: --email-domain school.example',
    )
  }
})
