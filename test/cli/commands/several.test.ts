import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect } from 'vitest'
import { type TestCli, test } from '../../helpers/cli.ts'
import { ran, resultOf, rowsOf } from '../../helpers/result.ts'

const titles = { a: 'Algae', b: 'Birds', c: 'Crabs' }

beforeEach<{ local: TestCli }>(async ({ local }) => {
  for (const [key, title] of Object.entries(titles)) {
    await local.run(['courses', 'create', '--external-id', key, '--title', title])
  }
})

const statuses = async (local: TestCli) =>
  Object.fromEntries(await rowsOf(local, 'courses list --sort title --columns externalId,status'))

describe('several arguments', () => {
  test('are all done, each once with its line, in the given order', { tags: ['slow'] }, async ({ local }) => {
    const { stderr } = await ran(local, 'courses publish c a b a', 0, { tty: 80 })
    expect(stderr).toBe(
      'Published course Crabs (c), version 2\nPublished course Algae (a), version 2\nPublished course Birds (b), version 2\n',
    )
    expect(await statuses(local)).toEqual({ a: 'published', b: 'published', c: 'published' })
  })

  test('that fail are named, also to programs; the others are done', { tags: ['slow'] }, async ({
    local,
  }) => {
    const { stdout, stderr } = await ran(local, 'courses publish a nowhere b elsewhere', 8)
    expect(stdout.split('\n')).toHaveLength(3)
    expect(stderr).toContain('error: Cannot publish 2 of 4 courses\n')
    expect(stderr).toContain('  nowhere: Course nowhere not found\n')
    expect(stderr).toContain('  elsewhere: Course elsewhere not found\n')
    expect(await statuses(local)).toEqual({ a: 'published', b: 'published', c: 'draft' })
    const {
      code: ended,
      stdout: printed,
      stderr: told,
    } = await local.run('courses publish a nowhere -o json')
    expect(ended).toBe(8)
    expect(JSON.parse(printed)).toMatchObject([{ version: 2, course: { externalId: 'a' } }])
    expect(JSON.parse(told).error).toMatchObject({
      code: 'partial',
      exitCode: 8,
      details: [{ argument: 'nowhere', code: 'not_found', exitCode: 3, message: 'Course nowhere not found' }],
    })
  })

  test('of which one is given have its own code and are one object', async ({ local }) => {
    expect(await local.run('courses publish nowhere')).toMatchObject({ code: 3 })
    expect(await resultOf(local, 'courses publish a')).toMatchObject({ version: 2 })
  })

  test('are an array in JSON, and an id a line with --quiet', { tags: ['slow'] }, async ({ local }) => {
    const results = await resultOf(local, 'courses update c a --difficulty expert')
    const names = results.map(({ course }: { course: { externalId: string } }) => course.externalId)
    expect(names).toEqual(['c', 'a'])
    const { stdout, stderr } = await local.run('courses publish b c a -q')
    const ids = await rowsOf(local, 'courses list --sort title --columns id')
    expect({ stdout, stderr }).toEqual({ stdout: `${ids[1]}\n${ids[2]}\n${ids[0]}\n`, stderr: '' })
  })

  test('are a line each by --dry-run, a request each for programs', async ({ local }) => {
    const { stdout } = await ran(local, 'courses publish a b --dry-run -o json')
    expect(JSON.parse(stdout)).toMatchObject([
      { method: 'PUT', url: expect.stringMatching(/\/a$/), body: { status: 'published' } },
      { method: 'PUT', url: expect.stringMatching(/\/b$/) },
    ])
    const text = await local.run('courses publish a b --dry-run')
    expect(text.stdout).toBe('Would publish course a\nWould publish course b\n')
    const all = await local.run('courses publish a b --dry-run --debug')
    expect(all.stdout.match(/^PUT /gm)).toHaveLength(2)
    expect(await statuses(local)).toMatchObject({ a: 'draft', b: 'draft' })
  })

  test('cannot be guarded by the version of one', async ({ local }) => {
    expect((await ran(local, 'courses publish a b --if-version 1', 2)).stderr).toContain('--if-version')
  })
})

describe('before several are deleted', () => {
  test('one question names how many, and what can be restored', { tags: ['slow'] }, async ({ local }) => {
    const asked = await ran(local, 'courses delete a b', 0, { tty: 120, typed: ['y\r'] })
    expect(asked.stderr).toContain('Delete 2 courses (a, b)')
    expect(asked.stderr).toContain('They can be restored for 30 days.')
    expect(await statuses(local)).toEqual({ c: 'draft' })
    expect(await local.run('courses restore b a')).toMatchObject({ code: 0 })
    expect(Object.keys(await statuses(local))).toEqual(['a', 'b', 'c'])
  })

  test('none is read, and lines name them as they were given', { tags: ['slow'] }, async ({ local }) => {
    await local.run('keys create --name one')
    await local.run('keys create --name two')
    const { code, stderr } = await local.run('keys revoke one two --yes')
    expect({ code, stderr }).toEqual({ code: 0, stderr: 'Revoked API key one\nRevoked API key two\n' })
  })

  test('the number has to be typed out where nothing can be restored', async ({ local }) => {
    const asked = await ran(local, 'courses delete a b --erase', 0, { tty: 120, typed: ['2\r'] })
    expect(asked.stderr).toContain('This cannot be undone.')
    expect(asked.stderr).toContain('Type 2 to confirm')
    expect(await statuses(local)).toEqual({ c: 'draft' })
  })
})

describe('--ids', () => {
  test('takes what another command prints with --quiet', { tags: ['slow'] }, async ({ local }) => {
    const { stdout } = await local.run('courses list --sort title -q')
    const { code, stderr } = await local.run('courses publish --ids -', { stdin: stdout })
    expect({ code, lines: stderr.split('\n').length - 1 }).toEqual({ code: 0, lines: 3 })
    expect(Object.values(await statuses(local))).toEqual(['published', 'published', 'published'])
  })

  test('takes a file beside arguments, and skips empty lines', { tags: ['slow'] }, async ({ local }) => {
    writeFileSync(join(local.cwd, 'ids.txt'), '\r\nb\r\n\n')
    expect(await local.run('courses publish a --ids ids.txt')).toMatchObject({ code: 0 })
    expect(await statuses(local)).toMatchObject({ a: 'published', b: 'published', c: 'draft' })
  })

  test('without any id does nothing, and succeeds', async ({ local }) => {
    expect(await local.run('courses delete --ids - --force --yes', { stdin: '' })).toEqual({
      code: 0,
      stdout: '',
      stderr: 'note: Nothing to do: no ids were given\n',
    })
    expect(await local.run('courses publish --ids - -o json', { stdin: '\n' })).toMatchObject({
      code: 0,
      stdout: '[]\n',
    })
  })

  test('refuses rows of a table, and says how to print ids alone', async ({ local }) => {
    const { stdout } = await local.run('courses list')
    const { stderr } = await ran(local, 'courses publish --ids -', 2, { stdin: stdout })
    expect(stderr).toContain('error: Standard input, line 1: not an id: ')
    expect(stderr).toContain('hint: Print ids alone: learnctl courses list -q\n')
  })
})
