import { describe, expect } from 'vitest'
import { test as base } from '../../helpers/cli.ts'
import { allCommands } from '../../helpers/host.ts'

/** The commands that `help --json` describes, by name. */
const test = base.extend('described', async ({ cli }) => {
  const { code, stdout, stderr } = await cli.run('help --json')
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  const { commands } = JSON.parse(stdout)
  // biome-ignore lint/suspicious/noExplicitAny: a test reads it as its readers do.
  return new Map<string, any>(commands.map((each: { command: string }) => [each.command, each]))
})

describe('commands as data', () => {
  test('every command says what it writes', async () => {
    const silent = (await allCommands()).filter(([, { writes, calls }]) => !writes && !calls)
    expect(silent.map(([path]) => path)).toEqual([])
  })

  test('every flag and argument that takes a path says whether it is read or written', async () => {
    const silent = (await allCommands()).flatMap(([path, { flags = [], arguments: positions = [] }]) => [
      ...flags
        .filter(({ file, placeholder = '' }) => !file && /path|file|dir/.test(placeholder))
        .map(({ name }) => `${path} --${name}`),
      ...positions
        .filter(({ file, name }) => !file && /file|folder/.test(name))
        .map(({ name }) => `${path} ${name}`),
    ])
    expect(silent).toEqual([])
  })

  test('has all commands with their arguments and flags', { tags: ['slow'] }, async ({ described }) => {
    const all = await allCommands()
    expect([...described.keys()]).toEqual(all.map(([path]) => path))
    for (const [path, { flags = [], arguments: positions = [] }] of all) {
      const { flags: flagsHere, arguments: argumentsHere } = described.get(path)
      expect(flagsHere.map(({ name }: { name: string }) => name)).toEqual(
        flags.map(({ name }) => `--${name}`),
      )
      expect(argumentsHere.map(({ name }: { name: string }) => name)).toEqual(
        positions.map(({ name }) => name),
      )
    }
  })

  test('the method of an operation says whether its command writes', { tags: ['slow'] }, ({ described }) => {
    expect(described.get('courses list')).toMatchObject({
      writes: [],
      destructive: false,
      operation: { id: 'courses.list', method: 'GET', path: '/v1/courses' },
      formats: ['table', 'json', 'jsonl', 'csv', 'yaml', 'parquet', 'xlsx'],
    })
    expect(described.get('courses create')).toMatchObject({
      writes: ['academy'],
      destructive: false,
      confirms: false,
    })
    expect(described.get('courses delete')).toMatchObject({
      writes: ['academy'],
      destructive: true,
      confirms: true,
      exitCodes: [0, 1, 2, 3, 4, 5, 6, 7, 8, 130, 143],
    })
  })

  test('a flag says what it changes besides', { tags: ['slow'] }, ({ described }) => {
    const flagOf = (command: string, flag: string) =>
      described.get(command).flags.find(({ name }: { name: string }) => name === flag)
    expect(flagOf('analytics export', '--file')).toMatchObject({
      type: 'string',
      file: 'write',
      writes: ['files'],
    })
    expect(flagOf('courses list', '--to-sheet')).toMatchObject({ writes: ['elsewhere'], destructive: true })
    expect(flagOf('apply', '--prune')).toMatchObject({ type: 'boolean', destructive: true })
    expect(flagOf('courses create', '--title')).toMatchObject({ type: 'string', required: true })
    expect(flagOf('courses create', '--difficulty').choices).toContain('advanced')
    expect(flagOf('users import', '--file')).toBeUndefined()
  })

  test('names what is no command', async ({ cli }) => {
    expect(await cli.run('help --json courses fly')).toEqual({
      code: 2,
      stdout: '',
      stderr: 'error: No command "courses fly"\n  hint: See: learnctl --help\n',
    })
  })

  test('-o json asks for the same, a variable does not', { tags: ['slow'] }, async ({ cli }) => {
    const { stdout } = await cli.run('help --json courses list')
    expect(await cli.run('help courses list -o json')).toEqual({ code: 0, stdout, stderr: '' })
    const text = await cli.run('help courses list')
    expect(await cli.run('help courses list', { env: { LEARNCTL_OUTPUT: 'json' } })).toEqual(text)
  })

  test.for([
    ['help exit-codes -o json', 'The topic exit-codes is text, not data'],
    ['help --json flags', 'The topic flags is text, not data'],
    ['help --man -o yaml', '--man and -o yaml cannot be used together'],
    ['help --notices --json', '--notices and --json cannot be used together'],
  ])('%s is refused, since it is text', async ([line = '', message = ''], { cli }) => {
    const { code, stdout, stderr } = await cli.run(line)
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toContain(message)
  })
})
