import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { test } from '../../helpers/cli.ts'
import { expectClearError, ran, resultOf } from '../../helpers/result.ts'

const go = 'courses create --title Go --external-id go -q'

test('a course is created from flags of every kind and a file', async ({ local }) => {
  writeFileSync(
    join(local.cwd, 'course.yaml'),
    'modules: [title: One]\nassessmentCriteria: { moveOn: Passed, weights: [{ name: exam, weight: 60 }] }\nprogressTracking: { enabled: false }',
  )
  const { stdout } = await local.run([
    ...['courses', 'create', '--title', 'Sea', '--description', 'Deep', '--difficulty', 'expert'],
    ...['--tags', 'sea,life'],
    ...['--duration-minutes', '90', '--language', 'en', '--status', 'published'],
    ...['--passing-score', '60'],
    ...['--body', '@course.yaml'],
    ...['-o', 'json'],
  ])
  expect(JSON.parse(stdout)).toMatchObject({
    title: 'Sea',
    description: 'Deep',
    difficulty: 'expert',
    tags: ['sea', 'life'],
    modules: [{ title: 'One', order: 1 }],
    durationMinutes: 90,
    language: 'en',
    status: 'published',
    assessmentCriteria: { passingScore: 60, moveOn: 'Passed', weights: [{ name: 'exam', weight: 60 }] },
    progressTracking: { enabled: false, completionThreshold: 100 },
  })
})

describe('--body', () => {
  test.for([
    ['course.json', '{"title": "From file", "tags": ["a"]}'],
    ['course.yaml', 'title: From file\ntags: [a]\n'],
  ])('reads %s, and flags override it', async ([name = '', text = ''], { local }) => {
    writeFileSync(join(local.cwd, name), text)
    const { stdout } = await local.run(`courses create --body @${name} --tags b -o json`)
    expect(JSON.parse(stdout)).toMatchObject({ title: 'From file', tags: ['b'] })
  })

  test('takes what get has printed, without its read-only fields', async ({ local }) => {
    await local.run(go)
    const got = await local.run('courses get ext:go -o json')
    const stdin = got.stdout.replace('"go"', '"go-2"')
    const copy = JSON.parse((await local.run('courses create --body - -o json', { stdin })).stdout)
    const { id, ...rest } = JSON.parse(got.stdout)
    expect(copy.id).not.toBe(id)
    expect(copy).toMatchObject({ title: rest.title, externalId: 'go-2', version: 1 })
  })

  test.for([
    ['bad.json', '{"title": "a",\n "tags": [}', 'bad.json:2:11: not JSON'],
    ['bad.yaml', 'title: a\ntags: [\n', 'bad.yaml:3:1: not YAML'],
    ['bad.yaml', '- title: a\n', '--body must be an object'],
    ['bad.json', '  ', 'bad.json is empty'],
  ])('refuses %s holding %j', async ([name = '', text = '', message = ''], { local }) => {
    writeFileSync(join(local.cwd, name), text)
    const { code, stderr } = await local.run(`courses create --body @${name}`)
    expect(code).toBe(2)
    expect(stderr).toContain(message)
  })

  test('refuses a file that is not there, and a path without @', async ({ local }) => {
    expect((await local.run('courses create --body @none.json')).stderr).toContain(
      'Cannot read none.json: file not found',
    )
    expect((await local.run('courses create --body none.json')).stderr).toContain('--body @none.json')
  })
})

describe('update', () => {
  test('changes what is given, and shows what that was', async ({ local }) => {
    await local.run(go)
    const { stdout } = await local.run('courses update ext:go --title Went --passing-score 61 -o json')
    expect(JSON.parse(stdout)).toMatchObject({
      version: 2,
      previousVersion: 1,
      modifiedAttributes: expect.arrayContaining(['title', 'assessmentCriteria']),
      course: { title: 'Went', assessmentCriteria: { passingScore: 61, moveOn: 'Completed' } },
    })
  })

  test('puts fields back to their default with --unset', async ({ local }) => {
    await local.run(`${go} --tags a,b --passing-score 10`)
    await local.run('courses update ext:go --unset tags,passing-score')
    const course = JSON.parse((await local.run('courses get ext:go -o json')).stdout)
    expect(course).toMatchObject({ tags: [], assessmentCriteria: { passingScore: 70 } })
  })
})

test('earlier versions are listed, compared and brought back', { tags: ['slow'] }, async ({ local }) => {
  await local.run(go)
  await local.run('courses update ext:go --title Went')
  expect((await local.run('courses versions ext:go --columns version,modifiedAttributes')).stdout).toBe(
    '2\ttitle\n1\t\n',
  )
  expect(await local.run('courses diff ext:go 1')).toEqual({
    code: 9,
    stdout: 'title\tGo\tWent\n',
    stderr: '',
  })
  expect((await local.run('courses diff ext:go 1 -o csv')).stdout).toBe('field,from,to\r\ntitle,Go,Went\r\n')
  expect(await local.run('courses diff ext:go 2')).toMatchObject({ code: 0, stdout: '' })
  expect(JSON.parse((await local.run('courses diff ext:go 2 --to 1 -o json')).stdout)).toMatchObject({
    from: 2,
    to: 1,
    changes: [{ pointer: '/title', from: 'Went', to: 'Go' }],
  })
  expect(await local.run('courses restore ext:go 1')).toMatchObject({ code: 2 })
  for (const verb of ['restore', 'diff']) {
    expectClearError(
      await local.run(`courses ${verb} ext:go v1`),
      2,
      '<version> must be a whole number, 1 or more, not "v1"',
    )
  }
  await local.run('courses restore ext:go 1 --yes')
  expect((await local.run('courses get ext:go --columns title,version')).stdout).toBe('Go\t3\n')
})

describe('a refusal', () => {
  test('of a reference names a similar record, and of a title its reference', async ({ local }) => {
    await local.run('courses create --title Geology --external-id AST-101')
    await local.run('users create --email ada@school.example')
    for (const [line, hint] of [
      ['courses get ext:AST-10', 'Did you mean ext:AST-101?'],
      ['enrollments list --course AST-111', 'Did you mean ext:AST-101?'],
      ['users get adda@school.example', 'Did you mean ada@school.example?'],
      ['lessons create --course geology --title Rocks', 'A title is no reference: use ext:AST-101'],
    ]) {
      expect((await local.run(line ?? '')).stderr, line).toContain(`hint: ${hint}\n`)
    }
  })

  test('of a reference to nothing names the list of what it refers to', async ({ local }) => {
    for (const [line, noun] of [
      ['courses get BIO-101', 'courses'],
      ['users get ada@example.org', 'users'],
      ['enrollments list --course BIO-101', 'courses'],
      ['analytics summary --course BIO-101', 'courses'],
    ] as const) {
      const { code, stderr } = await local.run(line)
      expect(code).toBe(3)
      expect(stderr).toContain(`hint: To list ${noun}: learnctl ${noun} list\n`)
    }
  })
})

test('a verb tells in one line; a pipe gets the id, -o the record', { tags: ['slow'] }, async ({ local }) => {
  const piped = await local.run('courses create --title Go --external-id go')
  expect(piped).toMatchObject({ code: 0, stderr: 'Created course Go (go)\n' })
  expect(piped.stdout).toMatch(/^crs_\w+\n$/)
  expect(await local.run('courses publish ext:go', { tty: 80 })).toEqual({
    code: 0,
    stdout: '',
    stderr: 'Published course Go (go), version 2\n',
  })
  expect(await local.run('courses publish ext:go -q')).toEqual({ ...piped, stderr: '' })
  expect(await local.run('courses publish ext:go')).toEqual({
    ...piped,
    stderr: 'Course Go (go) is already published\n',
  })
  expect(await local.run('courses unpublish ext:go --columns version')).toEqual({
    code: 0,
    stdout: '3\n',
    stderr: '',
  })
  const update = 'courses update ext:go --title Went'
  expect(await local.run(update, { env: { LEARNCTL_OUTPUT: 'yaml' } })).toMatchObject({
    stdout: expect.stringContaining('modifiedAttributes:\n  - title\n'),
    stderr: '',
  })
  expect((await local.run('courses restore ext:go 3 --yes')).stderr).toBe(
    'Restored version 3 of course Go (go), version 5\n',
  )
  expect((await local.run('courses archive ext:go')).stderr).toBe('Archived course Go (go), version 6\n')
})

describe('delete', () => {
  const sea = 'courses create --title "Marine Biology" --external-id sea'

  test('for good takes its title typed out', { tags: ['slow'] }, async ({ local }) => {
    await local.run(sea)
    await local.run('lessons create --course ext:sea --title Tides')
    const line = 'courses delete ext:sea --force --erase'
    const asked = await local.run(line, {
      tty: 200,
      typed: ['y\r'],
      onStderr: (printed, type) => void (printed.includes('press Ctrl+C to cancel') && type('\u0003')),
    })
    expect(asked.stderr).toContain(
      `Permanently delete course Marine Biology (sea) with 1 lesson in ${local.cwd}/academy.db? This cannot be undone.`,
    )
    expect(asked.stderr).toContain('Type Marine Biology to confirm:')
    expect((await local.run('courses get ext:sea')).code).toBe(0)
    const typed = await local.run(line, { tty: 200, typed: ['Marine Biology\r'] })
    expect(typed).toMatchObject({
      code: 0,
      stderr: expect.stringContaining('Permanently deleted course Marine Biology (sea)\n'),
    })
    expect((await local.run('courses restore ext:sea')).code).toBe(3)
    expect(await resultOf(local, 'courses list --deleted')).toEqual([])
  })

  test('says what went with the course, and how to restore it', { tags: ['slow'] }, async ({ local }) => {
    await local.run(`${sea} --status published`)
    await local.run('lessons create --course ext:sea --title Tides')
    await local.run('users create --email ada@school.example --external-id S-1')
    await local.run('progress set ext:S-1 --course ext:sea --completion 30')
    const deleted = await local.run('courses delete ext:sea --force --yes')
    const [entry] = (await resultOf(local, 'courses list --deleted')) as { restorableUntil: string }[]
    expect(deleted).toEqual({
      code: 0,
      stdout: '',
      stderr: `Deleted course Marine Biology (sea) with 1 lesson, 1 enrolment and 1 progress record; restore until ${entry?.restorableUntil.slice(0, 10)} with: learnctl courses restore ext:sea\n`,
    })
    expect(entry).toMatchObject({ title: 'Marine Biology', lessons: 1, enrollments: 1, externalId: 'sea' })
    const taken = await local.run('courses create --title Sea --external-id sea')
    expect(taken).toMatchObject({ code: 6 })
    expect(taken.stderr).toMatch(/\(deleted\)\n {2}hint: To restore it: learnctl courses restore crs_/)
    expect(await local.run('courses restore ext:sea')).toMatchObject({
      code: 0,
      stderr: 'Restored course Marine Biology (sea)\n',
    })
    expect(await resultOf(local, 'progress get ext:S-1')).toMatchObject([{ completionPercentage: 30 }])
    const again = await local.run('courses restore ext:sea')
    expect(again).toMatchObject({ code: 3 })
    expect(again.stderr).toContain('hint: To list deleted courses: learnctl courses list --deleted\n')
  })

  test('a list of deleted courses takes no filter', async ({ local }) => {
    expect((await ran(local, 'courses list --deleted --status draft', 2)).stderr).toContain(
      'error: --status and --deleted cannot be used together\n',
    )
  })

  test('of a course with lessons takes --force, said at once', { tags: ['slow'] }, async ({ local }) => {
    await local.run(sea)
    await local.run('lessons create --course ext:sea --title Tides')
    const asked = await local.run('courses delete ext:sea', { tty: 200 })
    expect(asked).toMatchObject({ code: 6, stdout: '' })
    expect(asked.stderr).toContain('Course Marine Biology (sea) has 1 lesson\n')
    expect(asked.stderr).toContain('hint: To delete all of it: learnctl courses delete ext:sea --force')
    const unasked = await local.run('courses delete ext:sea --yes')
    expect(unasked).toMatchObject({
      code: 6,
      stderr: expect.stringContaining(
        'The course has 1 lesson. Delete it first, or use --force to delete it with the course.\n',
      ),
    })
  })

  test('asks without details where nothing may be read', { tags: ['slow'] }, async ({ remote, academy }) => {
    const instructor = await academy.person('instructor', ['write'])
    const { body } = await instructor.post('/v1/courses', { title: 'Marine Biology' })
    const env = { LEARNCTL_URL: 'https://school.example', LEARNCTL_API_KEY: instructor.key }
    const asked = await remote.run(`courses delete ${body.id}`, { env, tty: 200, typed: [`${body.id}\r`] })
    expect(asked.code).toBe(0)
    expect(asked.stderr).toContain(
      `Delete course ${body.id} on school.example? The platform may not be able to restore it.`,
    )
  })
})

describe('--dry-run', () => {
  test('prints the request and sends nothing', async ({ local }) => {
    const { code, stdout, stderr } = await local.run('courses create --title Go --dry-run')
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout).toMatch(
      /^POST http:\/\/localhost\/v1\/courses\naccept: .*\n\n\{\n {2}"title": "Go"\n\}\n$/s,
    )
    expect((await local.run('courses list -q')).stdout).toBe('')
  })

  test('asks nothing before a deletion, and makes no academy', async ({ cli }) => {
    const { code, stdout, stderr } = await cli.run('courses delete crs_1 --force --dry-run --database new.db')
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout).toMatch(/^DELETE http:\/\/localhost\/v1\/courses\/crs_1\?force=true\n/)
  })
})
