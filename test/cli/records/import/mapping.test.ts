import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { type TestCli, test } from '../../../helpers/cli.ts'
import { resultOf } from '../../../helpers/result.ts'

function write(cli: TestCli, name: string, content: string | Uint8Array): void {
  writeFileSync(join(cli.cwd, name), content)
}

function read(cli: TestCli, name: string): string {
  return readFileSync(join(cli.cwd, name), 'utf8')
}

const roles = ['--map-value', 'role:Lehrer=instructor', '--map-value', 'role:Schüler=learner']

describe('--map-value', () => {
  test('says what a value of the file means, by the name of the field or of its column', async ({
    local,
  }) => {
    const csv = 'email,Rolle\na@b.example,Lehrer\nb@b.example,Schüler \nc@b.example,analyst\nd@b.example,\n'
    const map = ['--map', 'Rolle=role', '--map-value', 'Rolle:Lehrer=instructor', ...roles.slice(2)]
    const ran = await local.run(['users', 'import', '-', ...map, '--map-value', 'role:=admin'], {
      stdin: csv,
    })
    expect(ran, ran.stderr).toMatchObject({ code: 0 })
    const { stdout } = await local.run('users list --sort email -o csv --columns email,role')
    expect(stdout).toContain('b@b.example,learner\r\nc@b.example,analyst\r\nd@b.example,admin\r\n')
  })

  test('is for JSON, for items of lists and for other kinds of fields, too', async ({ local }) => {
    const stdin =
      '[{"externalId": "A", "title": "Sea", "tags": ["Meer", "deep"], "enabled": "ja", "difficulty": 1}]'
    const flags = [
      ...['--map', 'enabled=progressTracking.enabled', '--map-value', 'tags:Meer=sea, ocean'],
      ...['--map-value', 'enabled:ja=false', '--map-value', 'difficulty:1=expert'],
    ]
    const ran = await local.run(['courses', 'import', '-', ...flags], { stdin })
    expect(ran, ran.stderr).toMatchObject({ code: 0 })
    expect(await resultOf(local, 'courses get ext:A')).toMatchObject({
      tags: ['sea', 'ocean', 'deep'],
      progressTracking: { enabled: false },
      difficulty: 'expert',
    })
    const csv = 'externalId,tags,difficulty\nA,"Meer, flat",1\n'
    await local.run(
      ['courses', 'import', '-', '--map-value', 'tags:Meer=sea', '--map-value', 'difficulty:1='],
      {
        stdin: csv,
      },
    )
    expect(await resultOf(local, 'courses get ext:A')).toMatchObject({
      tags: ['sea', 'flat'],
      difficulty: 'expert',
    })
  })

  test.for([
    [
      'rolle:Lehrer=instructor',
      '--map-value "rolle:Lehrer=instructor" names an unknown field: "rolle"; did you mean role?',
    ],
    [
      'role:Lehrer=instruktor',
      '--map-value "role:Lehrer=instruktor" must be one of admin, instructor, learner, analyst, student, teacher, observer, not "instruktor"; did you mean instructor?',
    ],
    ['role=instructor', '--map-value must be "field:value in the file=value", not "role=instructor"'],
    [
      'password:x=correct horse',
      '--map-value "password:x=correct horse" is a secret, which a mapping must not hold',
    ],
  ])('is refused as %s', async ([pair = '', told], { local }) => {
    const ran = await local.run(['users', 'import', '-', '--map-value', pair], { stdin: 'email\n' })
    expect(ran.code).toBe(2)
    expect(ran.stderr.split('\n')[0]).toBe(`error: ${told}`)
  })

  test('may name a choice that only another platform has', async ({ academy, remote }) => {
    const { key } = await academy.person('admin')
    const ran = await remote.run(['users', 'import', '-', '--map-value', 'role:Lehrer=tutor'], {
      stdin: 'email,role\na@b.example,Lehrer\n',
      env: { LEARNCTL_URL: 'https://school.example', LEARNCTL_API_KEY: key },
    })
    // This platform declares its own choices.
    expect(ran.stderr).toContain('role: must be one of ')
    expect(ran.stderr).toContain('not "Lehrer" (read as "tutor")')
  })

  test('is suggested for a value that is near no choice', async ({ local }) => {
    const ran = await local.run(['users', 'import', '-', '--map', 'Rolle=role'], {
      stdin: 'email,Rolle\na@b.example,Lehrer\n',
    })
    expect(ran.stderr).toContain('Standard input:2: Rolle (role): must be one of ')
    expect(ran.stderr).toContain('hint: Say what it means: --map-value "role:Lehrer=value". Correct the file')
  })
})

/** An export as Excel writes it for a German school, in Windows-1252. */
const german = [
  'Kennung;E-Mail;Vorname;Rolle;Passwort geändert;Anmerkung',
  'S-1;ada@schule.example;Ada;Schülerin;31.08.2025;',
  'S-2;grace@schule.example;Grace;Lehrer;1.9.2025;"sagt: ""Tag; auch"""',
  'S-3;jean;Jürgen;Lehrer;;',
  'S-4;edith@schule.example;Edith;Hausmeister;;',
  'S-5;mary@schule.example;Mary;Lehrer;;krank;seit Montag',
  '',
].join('\r\n')

const school = `# Export of the school's office
columns:
  Kennung: externalId
  Vorname: firstName
  Rolle: role
  Passwort geändert:   # not needed
  Anmerkung: bio
values:
  role:
    Lehrer: instructor
    Schülerin: learner
encoding: windows-1252
dateFormat: DD.MM.YYYY
`

describe('--mapping', () => {
  test('reads columns, values, encoding and the rest from YAML or JSON', async ({ local }) => {
    const csv = Buffer.from(
      'Kennung;E-Mail;Vorname;Rolle\r\nS-1;ada@b.example;Jürgen;Schülerin\r\n',
      'latin1',
    )
    write(local, 'a.csv', csv)
    const document = {
      columns: { Kennung: 'externalId', Vorname: 'firstName', Rolle: 'role' },
      values: { Rolle: { Schülerin: 'learner' } },
      ...{ format: 'csv', delimiter: ';', encoding: 'latin1', dateFormat: 'DD.MM.YYYY', clearEmpty: false },
    }
    write(local, 'm.json', JSON.stringify(document))
    write(local, 'm.yaml', school)
    for (const name of ['m.json', 'm.yaml']) {
      const ran = await local.run(`users import a.csv --mapping ${name}`)
      expect(ran, ran.stderr).toMatchObject({ code: 0 })
      expect(ran.stderr).toMatch(/1 (created|unchanged)\n$/)
    }
    expect(await resultOf(local, 'users get ext:S-1')).toMatchObject({
      role: 'learner',
      profile: { firstName: 'Jürgen' },
    })
  })

  test('notes a column that this file does not have, and flags come before it', async ({ local }) => {
    write(
      local,
      'm.yaml',
      'columns: {Kennung: externalId, Rolle: role}\nvalues: {role: {L: learner, P: admin}}\n',
    )
    const stdin = 'email,Rolle\na@b.example,L\nb@b.example,P\n'
    const ran = await local.run('users import - --mapping m.yaml --map-value role:L=instructor', { stdin })
    expect(ran, ran.stderr).toMatchObject({ code: 0 })
    expect(ran.stderr).toContain('note: Standard input has no column "Kennung", which m.yaml names\n')
    const { stdout } = await local.run('users list --sort email -o csv --columns email,role')
    expect(stdout).toContain('b@b.example,admin\r\n')
  })

  test('is refused with all its problems and their lines', async ({ local }) => {
    const text = 'columns:\n  Rolle: rol\nvalues:\n  role:\n    Lehrer: instruktor\nencoding: klingon\n'
    write(local, 'm.yaml', text)
    const ran = await local.run('users import - --mapping m.yaml', { stdin: 'email\n' })
    expect(ran.code).toBe(2)
    expect(ran.stderr.split('\n')).toEqual([
      'error: 3 problems found in m.yaml; nothing was sent',
      '  m.yaml:2: columns.Rolle names an unknown field: "rol"; did you mean role?',
      expect.stringMatching(
        /^ {2}m\.yaml:5: values\.role\.Lehrer must be one of .*; did you mean instructor\?$/,
      ),
      '  m.yaml:6: encoding is not a known encoding',
      '',
    ])
    write(local, 'm.yaml', 'colums: {}\ndateFormat: YYYY.MM.DD\n')
    const other = await local.run('users import - --mapping m.yaml', { stdin: 'email\n' })
    expect(other.stderr).toContain('m.yaml:1: colums is not a known field; did you mean columns?')
    expect(other.stderr).toContain('m.yaml:2: dateFormat must be one of DD.MM.YYYY, ')
    expect((await local.run('users import - --mapping none.yaml')).stderr).toContain(
      'Cannot read none.yaml: file not found',
    )
  })
})

test('--map names a column that the file has', async ({ local }) => {
  const ran = await local.run('users import - --map rolle=role', { stdin: 'email,Rolle\na@b.example,x\n' })
  expect(ran.code).toBe(2)
  expect(ran.stderr).toContain(
    'error: --map names "rolle", but standard input has no such column; did you mean Rolle?\n  Columns: email, Rolle\n',
  )
})

describe('--ignore-other-columns', () => {
  const csv = 'E-Mail,Vorname,Klasse,Notenschnitt\nada@b.example,Ada,5a,1.3\n'
  const mapped = '--map E-Mail=email --map Vorname=firstName'

  test('leaves out the columns that mean no field, and names them', async ({ local }) => {
    const refused = await local.run(`users import - ${mapped}`, { stdin: csv })
    expect(refused.code).toBe(2)
    expect(refused.stderr).toContain('or all of them: --ignore-other-columns')
    const { code, stderr } = await local.run(`users import - ${mapped} --ignore-other-columns`, {
      stdin: csv,
    })
    expect({ code, stderr }).toEqual({
      code: 0,
      stderr:
        'note: Left out 2 columns: "Klasse", "Notenschnitt"\nImported 1 row of 1 from standard input: 1 created\n',
    })
  })

  test('is refused for JSON, and leaves no file without columns', async ({ local }) => {
    const json = await local.run('users import - --ignore-other-columns', {
      stdin: '[{"email":"a@b.example","x":1}]',
    })
    expect(json.code).toBe(2)
    expect(json.stderr).toContain('--ignore-other-columns is about tables, not about JSON')
    const headless = await local.run('users import - --ignore-other-columns', {
      stdin: 'ada@b.example,Ada\n',
    })
    expect(headless.stderr).toContain('has 2 unknown columns')
  })
})

describe('--save-mapping', () => {
  test('writes what the import was told, with all columns of its file, and the next one takes it', async ({
    local,
  }) => {
    write(local, 'a.csv', 'Kennung;E-Mail;Rolle;Notiz;id\nS-1;a@b.example;Lehrer;x;1\n')
    const flags = ['--map', 'Kennung=externalId', '--map', 'Notiz=', '--map', 'Rolle=role']
    const more = [
      ...roles,
      '--date-format',
      'DD.MM.YYYY',
      '--delimiter',
      ';',
      '--save-mapping',
      'school.yaml',
    ]
    const ran = await local.run(['users', 'import', 'a.csv', ...flags, ...more])
    expect(ran, ran.stderr).toMatchObject({ code: 0 })
    expect(ran.stderr).toContain(
      'note: Saved the mapping; the next run with such files takes it: --mapping school.yaml\n',
    )
    expect(read(local, 'school.yaml')).toBe(`columns:
  Kennung: externalId
  E-Mail: email
  Rolle: role
  Notiz: null
  id: null
values:
  role:
    Lehrer: instructor
    Schüler: learner
delimiter: ;
dateFormat: DD.MM.YYYY
`)
    const again = await local.run('users import a.csv --mapping school.yaml')
    expect(again, again.stderr).toMatchObject({ code: 0 })
    expect(again.stderr).toBe('Imported 1 row of 1 from a.csv: 1 unchanged\n')
    const same = await local.run(['users', 'import', 'a.csv', ...flags, ...more])
    expect(same, same.stderr).toMatchObject({ code: 0 })
  })

  test('adds to the file that --mapping names and keeps its comments, but replaces no other', async ({
    local,
  }) => {
    write(local, 'm.yaml', school)
    const csv = 'Kennung;E-Mail;Rolle\r\nS-4;edith@b.example;Hausmeister\r\n'
    const flag = ['--map-value', 'role:Hausmeister=analyst']
    const ran = await local.run(
      ['users', 'import', '-', '--mapping', 'm.yaml', ...flag, '--save-mapping', './m.yaml'],
      { stdin: csv },
    )
    expect(ran, ran.stderr).toMatchObject({ code: 0 })
    expect(read(local, 'm.yaml')).toBe(
      school
        .replace('bio\n', 'bio\n  E-Mail: email\n')
        .replace('learner\n', 'learner\n    Hausmeister: analyst\n')
        .replace('geändert:   #', 'geändert: #'),
    )
    const other = await local.run('users import - --save-mapping m.yaml', { stdin: 'email\nx@b.example\n' })
    expect(other.code).toBe(2)
    expect(other.stderr).toContain(
      'm.yaml already exists\n  hint: To add to it: --mapping m.yaml --save-mapping m.yaml',
    )
    expect(await local.run('users get x@b.example')).toMatchObject({ code: 3 })
  })

  test('is not written for an import that is refused', async ({ local }) => {
    const ran = await local.run('users import - --save-mapping m.json', { stdin: 'email\nada\n' })
    expect(ran.code).toBe(2)
    expect(existsSync(join(local.cwd, 'm.json'))).toBe(false)
    await local.run('users import - --dry-run --save-mapping m.json', { stdin: 'email\nada@b.example\n' })
    expect(JSON.parse(read(local, 'm.json'))).toEqual({ columns: { email: 'email' } })
  })
})

describe('the file of rejected rows', () => {
  test('has the form and the mapping of its file: corrected in place, it is imported without a flag', {
    tags: ['slow'],
  }, async ({ local }) => {
    write(local, 'schule.csv', Buffer.from(german, 'latin1'))
    write(local, 'm.yaml', school.replace('Passwort geändert:   # not needed', 'Passwort geändert:'))
    const ran = await local.run('users import schule.csv --mapping m.yaml --skip-invalid')
    expect(ran.code, ran.stderr).toBe(8)
    expect(ran.stderr).toContain('2 created, 3 failed')
    const errors = read(local, 'schule.errors.csv')
    const [header, ...rows] = errors.split('\r\n')
    expect(header).toMatch(
      /^\ufeffKennung;E-Mail;Vorname;Rolle;Passwort geändert;Anmerkung;"mapping: \{.*\}";line;code;message$/,
    )
    const choices = 'must be one of admin, instructor, learner, analyst, student, teacher, observer'
    expect(rows).toEqual([
      'S-3;jean;Jürgen;Lehrer;;;;4;invalid_format;"email: must be an e-mail address, such as ada@example.org, not ""jean"""',
      `S-4;edith@schule.example;Edith;Hausmeister;;;;5;invalid_choice;"Rolle (role): ${choices}, not ""Hausmeister"""`,
      'S-5;mary@schule.example;Mary;Lehrer;;krank;;6;ragged_row;"has 7 cells, but the header has 6";seit Montag',
      '',
    ])
    // A flag adds to the mapping in its header.
    const added = await local.run(
      'users import schule.errors.csv --dry-run --map-value Rolle:Hausmeister=admin',
    )
    expect(added.stderr).not.toContain('Hausmeister')
    // As it is, every row is refused again, and none is half right.
    const asIs = await local.run('users import schule.errors.csv --skip-invalid')
    expect(asIs.stderr).toContain('3 failed')
    expect(read(local, 'schule.errors-2.csv')).toContain('seit Montag')
    const mended = errors
      .replace(';jean;', ';jean@schule.example;')
      .replace('Edith;Hausmeister;;', 'Edith;Schülerin;1.9.2025;')
      .replace(';krank;', ';"krank; seit Montag";')
      .replace(/;seit Montag\r/, '\r')
    // Excel may write it in its own encoding again.
    for (const bytes of [Buffer.from(mended), Buffer.from(mended.slice(1), 'latin1')]) {
      write(local, 'schule.errors.csv', bytes)
      const again = await local.run('users import schule.errors.csv')
      expect(again, again.stderr).toMatchObject({ code: 0 })
      expect(again.stderr).toMatch(/3 (created|unchanged)\n$/)
    }
    const users = JSON.parse((await local.run('users list --all -o json')).stdout)
    const found = users.map(({ externalId, role, profile }: Record<string, unknown>) => [
      externalId,
      role,
      profile,
    ])
    expect(found).toEqual(
      expect.arrayContaining([
        ['S-3', 'instructor', expect.objectContaining({ firstName: 'Jürgen' })],
        ['S-4', 'learner', expect.objectContaining({ firstName: 'Edith' })],
        ['S-5', 'instructor', expect.objectContaining({ bio: 'krank; seit Montag' })],
      ]),
    )
  })

  test('keeps decimal commas, tabs and switches of its import', { tags: ['slow'] }, async ({ local }) => {
    await local.run('courses create --title Sea --external-id SEA --status published')
    await local.run('users create --email ada@b.example --external-id 1')
    await local.run('enrollments create --course ext:SEA --user ext:1')
    write(local, 'noten.tsv', 'Kind\tcourse\titem\tscore\tmaximum\next:2\text:SEA\ta\t22,5\t20\n')
    const ran = await local.run('grades import noten.tsv --map Kind=learnerId --extra-credit')
    expect(ran.code, ran.stderr).toBe(8)
    const errors = read(local, 'noten.errors.tsv')
    expect(errors).toMatch(
      /^Kind\tcourse\titem\tscore\tmaximum\textraCredit\t"mapping: .*"\tline\tcode\tmessage\r\n/,
    )
    write(local, 'noten.errors.tsv', errors.replace('ext:2', 'ext:1'))
    const again = await local.run('grades import noten.errors.tsv')
    expect(again, again.stderr).toMatchObject({ code: 0 })
    const [grade] = await resultOf(local, 'grades list')
    expect(grade).toMatchObject({ scoreGiven: 22.5 })
  })

  test('names columns and values of the file where the platform refuses what the mapping reads for them', async ({
    local,
  }) => {
    await local.run('users create --email ada@b.example --external-id 1')
    write(local, 'e.csv', 'Klasse,user\n5b,ext:1\n')
    const flags = ['--map', 'Klasse=course', '--map-value', 'course:5b=ext:GEO-9']
    const dry = await local.run(['enrollments', 'import', 'e.csv', ...flags, '--dry-run', '-o', 'json'])
    const [{ message }] = JSON.parse(dry.stdout)
    expect(message).toBe('Klasse (courseId) "5b": Course ext:GEO-9 not found.')
    const ran = await local.run(['enrollments', 'import', 'e.csv', ...flags])
    expect(ran.code).toBe(8)
    expect(read(local, 'e.errors.csv')).toContain('"Klasse (courseId) ""5b"": Course ext:GEO-9 not found.')
    await local.run('courses create --title Sea --external-id GEO-9 --status published')
    expect(await local.run('enrollments import e.errors.csv')).toMatchObject({ code: 0 })
  })

  test('says so if its mapping is damaged', async ({ local }) => {
    write(local, 'a.errors.csv', 'email,"mapping: {""columns""",line,code,message\na@b.example,,2,x,y\n')
    const ran = await local.run('users import a.errors.csv')
    expect(ran.code).toBe(2)
    expect(ran.stderr).toContain('a.errors.csv has a damaged mapping in its header')
  })

  test('holds a mapping that is too long for one cell of a spreadsheet', { tags: ['slow'] }, async ({
    local,
  }) => {
    const classes = Array.from(
      { length: 2000 },
      (_, n) => `    klasse ${n}: ext:course-with-a-long-name-${n}\n`,
    )
    write(local, 'm.yaml', `columns: {Klasse: courseId}\nvalues:\n  courseId:\n${classes.join('')}`)
    write(local, 'e.csv', 'Klasse,user\nklasse 1999,ext:1\n')
    await local.run(
      'courses create --title Sea --external-id course-with-a-long-name-1999 --status published',
    )
    const ran = await local.run('enrollments import e.csv --mapping m.yaml')
    expect(ran.code).toBe(8)
    const [header = ''] = read(local, 'e.errors.csv').split('\r\n')
    expect(header.match(/mapping: /g)?.length).toBeGreaterThan(2)
    await local.run('users create --email ada@b.example --external-id 1')
    expect(await local.run('enrollments import e.errors.csv')).toMatchObject({ code: 0 })
  })
})

describe('a file of another program', () => {
  test('has choices in capitals and with spaces, and mapped ones as well', async ({ local }) => {
    const stdin = 'email,role\na@b.example,Student\nb@b.example, TEACHER \nc@b.example,LEHRER\n'
    const ran = await local.run('users import - --map-value role:Lehrer=Admin', { stdin })
    expect(ran, ran.stderr).toMatchObject({ code: 0 })
    const { stdout } = await local.run('users list --sort email -o csv --columns role')
    expect(stdout).toBe('role\r\nlearner\r\nadmin\r\ninstructor\r\nadmin\r\n')
  })

  test('has empty columns without a name, but no values in them', async ({ local }) => {
    const ran = await local.run('users import -', { stdin: 'email,firstName,,\r\na@b.example,Ada,,\r\n' })
    expect(ran, ran.stderr).toMatchObject({ code: 0 })
    const refused = await local.run('users import -', { stdin: 'email,,\nb@b.example,Bob,\n' })
    expect(refused.code).toBe(2)
    expect(refused.stderr).toContain('input:2: must have no value in a column without a name, not "Bob"')
  })

  test('has line breaks in its header, or a title above it', async ({ local }) => {
    const stdin = '"E-Mail\nAdresse",firstName\na@b.example,Ada\n'
    expect(
      await local.run(['users', 'import', '-', '--map', 'E-Mail Adresse=email'], { stdin }),
    ).toMatchObject({
      code: 0,
    })
    const titled = await local.run('users import -', { stdin: 'Klasse 5b;;\nemail;firstName;\n' })
    expect(titled.stderr).toContain(
      'hint: The first line must name the columns: delete any lines above them.',
    )
  })

  test('has times without a zone, and years of two digits', { tags: ['slow'] }, async ({ local }) => {
    await local.run('courses create --title Sea --external-id SEA --status published')
    for (const n of [1, 2, 3]) await local.run(`users create --email u${n}@b.example --external-id ${n}`)
    const csv = (day: string) => `course,user,enrolledAt\next:SEA,ext:1,${day}\n`
    const refused = await local.run('enrollments import -', { stdin: csv('2025-08-31 14:30:00') })
    expect(refused.stderr).toContain(
      'enrolledAt: must have a time zone, such as 2026-01-31T09:30:00Z, not "2025-08-31 14:30:00"; --date-format YYYY-MM-DD reads it in UTC\n',
    )
    for (const [format, day, time] of [
      ['YYYY-MM-DD', '2025-08-31 14:30:00', '2025-08-31T14:30:00.000Z'],
      ['YYYY-MM-DD', '2025-09-01', '2025-09-01T00:00:00.000Z'],
      ['DD.MM.YYYY', '31.08.25', '2025-08-31T00:00:00.000Z'],
    ] as const) {
      const ran = await local.run(`enrollments import - --date-format ${format}`, { stdin: csv(day) })
      expect(ran, ran.stderr).toMatchObject({ code: 0 })
      const [enrollment] = JSON.parse((await local.run('enrollments list -o json')).stdout)
      expect(enrollment.enrolledAt).toBe(time)
    }
  })

  test('has switches in another language, which a mapping explains', async ({ local }) => {
    const stdin = 'externalId,title,progressTracking.enabled\nA,Sea,FALSCH\n'
    const refused = await local.run('courses import -', { stdin })
    expect(refused.stderr).toContain(
      'hint: Say what it means: --map-value "progressTracking.enabled:FALSCH=value".',
    )
    const flag = ['--map-value', 'progressTracking.enabled:FALSCH=false']
    expect(await local.run(['courses', 'import', '-', ...flag], { stdin })).toMatchObject({ code: 0 })
    expect(await resultOf(local, 'courses get ext:A')).toMatchObject({ progressTracking: { enabled: false } })
  })
})
