import { describe, expect } from 'vitest'
import { nouns } from '../../../src/cli/program/nouns.ts'
import { version } from '../../../src/contract/version.ts'
import { test } from '../../helpers/cli.ts'
import { host } from '../../helpers/host.ts'

describe('a bare call', () => {
  test('prints the help, as --help does', async ({ cli }) => {
    const bare = await cli.run('')
    expect(bare).toMatchObject({ code: 0, stderr: '' })
    for (const noun of Object.keys(nouns)) expect(bare.stdout).toContain(`\n  ${noun}`)
    expect(await cli.run('--help')).toEqual(bare)
    expect(await cli.run('help')).toEqual(bare)
  })

  test('of a noun prints the help of the noun', async ({ cli }) => {
    const noun = await cli.run('courses')
    expect(noun).toMatchObject({ code: 0, stderr: '' })
    expect(noun.stdout).toContain('  restore <course...> [version]  ')
    expect(await cli.run('courses --help')).toEqual(noun)
    expect(await cli.run('help courses')).toEqual(noun)
  })
})

describe('help', () => {
  test('of a command names its arguments, flags and examples', async ({ cli }) => {
    const { stdout } = await cli.run('courses update --help')
    expect(stdout).toMatch(/^Usage: learnctl courses update <course...> \[flags\]\n/)
    expect(stdout).toContain('--tags <a,b>')
    expect(stdout).toContain('Difficulty: beginner')
    expect(stdout).toContain('Examples:\n  learnctl courses update')
    expect(await cli.run('help courses update')).toMatchObject({ code: 0, stdout })
  })

  test.for(Object.entries(nouns))(
    'of %s is the same with and without other flags',
    async ([name, noun], { cli }) => {
      const loaded = await noun.load(host)
      const commands = 'length' in loaded ? loaded.map((command) => ` ${command.name}`) : []
      for (const path of ['', ...commands].map((words) => name + words)) {
        const alone = await cli.run(`${path} -h`)
        expect(alone).toMatchObject({ code: 0, stderr: '' })
        expect(alone.stdout).toMatch(new RegExp(`^Usage: learnctl ${path} `))
        expect(await cli.run(`--debug ${path} --help`)).toEqual(alone)
      }
    },
  )

  test('goes from noun to command word by word, where a command has two', async ({ cli }) => {
    const noun = await cli.run('auth --help')
    expect(noun.stdout).toContain('\n  grants revoke <grant...>  ')
    const group = await cli.run('auth grants --help')
    expect(group).toMatchObject({ code: 0, stderr: '' })
    expect(group.stdout).toMatch(
      /^Usage: learnctl auth grants <command> \[flags\]\n\nManage the applications /,
    )
    expect(group.stdout).toMatch(/^ {2}list {2,}\S.*\n {2}revoke <grant...> {2}\S/m)
    expect(group.stdout).not.toContain('login')
    expect(await cli.run('help auth grants')).toEqual(group)
    expect(await cli.run('auth grants')).toEqual(group)
    const command = await cli.run('auth grants revoke --help')
    expect(command.stdout).toMatch(/^Usage: learnctl auth grants revoke <grant...> \[flags\]\n/)
    expect(await cli.run('help auth grants revoke')).toEqual(command)
    expect(await cli.run('help auth grants restore')).toMatchObject({ code: 2, stdout: '' })
  })

  test('of the program fits 80 columns and 48 lines, and tells of flags', async ({ cli }) => {
    const { stdout } = await cli.run('--help')
    const lines = stdout.trimEnd().split('\n')
    expect(lines.length).toBeLessThanOrEqual(48)
    expect(lines.filter((line) => line.length > 80)).toEqual([])
    expect(stdout).toContain('learnctl help flags')
    const { stdout: wrapped } = await cli.run('courses create --help', { tty: 60 })
    const examples = wrapped.indexOf('Examples:')
    for (const line of wrapped.slice(0, examples).split('\n')) expect(line.length).toBeLessThanOrEqual(60)
  })

  test.for([['exit-codes'], ['environment'], ['flags'], ['output'], ['configuration'], ['aliases']])(
    'explains %s',
    async ([topic = ''], { cli }) => {
      const { code, stdout } = await cli.run(['help', topic])
      expect(code).toBe(0)
      expect(stdout.split('\n').length).toBeGreaterThan(5)
      for (const line of stdout.split('\n')) expect(line.length).toBeLessThanOrEqual(80)
    },
  )

  test('lists every exit code', async ({ cli }) => {
    const { stdout } = await cli.run('help exit-codes')
    const codes = [...stdout.matchAll(/^ {2}(\d+) /gm)].map(([, code]) => Number(code))
    expect(codes).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 126, 127, 130, 143])
  })
})

test('an id from a file with CRLF, whose carriage return a shell keeps, is found', async ({ local }) => {
  const id = (await local.run('users create --email ada@b.example -q')).stdout.trim()
  expect(await local.run(['users', 'get', `${id}\r`, '-q'])).toMatchObject({ code: 0, stdout: `${id}\n` })
})

describe('--version', () => {
  test.for(['--version', '-V', '-v', 'version'])('counts as the first word: %s', async (flag, { cli }) => {
    expect(await cli.run(flag)).toEqual({ code: 0, stdout: `${version}\n`, stderr: '' })
  })

  test('is refused everywhere else, instead of silently doing nothing', async ({ local }) => {
    expect(await local.run('courses restore crs_1 --version 3')).toMatchObject({ code: 2, stdout: '' })
    expect(await local.run('courses list --version')).toMatchObject({ code: 2, stdout: '' })
  })
})

test.for([
  ['lgoin', "Unknown command 'lgoin'", 'login'],
  ['courses lsit', "Unknown command 'lsit'", 'list'],
  ['auth grats list', "Unknown command 'grats'", 'grants'],
  ['auth grants list --usr x', "Unknown flag '--usr'", '--user'],
  ['courses create --titel X', "Unknown flag '--titel'", '--title'],
  ['courses list --colums id', "Unknown flag '--colums'", '--columns'],
  ['courses list --titel Sea', "Unknown flag '--titel'", '--search'],
  ['courses list --output jsn', '--output must be one of', 'json'],
  ['courses create --title X --difficulty beginer', '--difficulty must be one of', 'beginner'],
  ['courses update x --unset titel', 'Unknown field for --unset: "titel"', 'title'],
  ['api course.list', 'Unknown operation ', 'courses.list'],
])('%s is answered with what was meant', async ([line = '', message = '', meant = ''], { local }) => {
  const { code, stdout, stderr } = await local.run(line)
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
  expect(stderr).toContain(message)
  expect(stderr).toMatch(new RegExp(`hint: Did you mean .*${meant}`))
})

describe('global flags', () => {
  test('are taken before the noun, before the verb, and after it', async ({ local }) => {
    await local.run('courses create --title Go')
    for (const line of ['-o json courses list', 'courses -o json list', 'courses list -o json']) {
      expect(JSON.parse((await local.run(line)).stdout)).toHaveLength(1)
    }
    for (const line of ['auth -o json grants list', 'auth grants -o json list', 'auth grants list -o json']) {
      expect((await local.run(line)).stdout).toBe('[]\n')
    }
  })

  test.for([
    ['-o json courses list -o csv', '--output takes one value, but was given "json" and "csv"'],
    ['courses list --search A --q B', '--q takes one value, but was given "A" and "B"'],
    ['progress set x --completion 1 --completion-percentage 2', 'but was given "1" and "2"'],
    ['grades set x --published --no-published', '--published and --no-published cannot be used together'],
  ])('%s is refused: a second value of a flag that has one', async ([line = '', message = ''], { local }) => {
    const { code, stdout, stderr } = await local.run(line)
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toContain(message)
  })

  test('repeat where they take several values, and switches where nothing is said twice', async ({
    local,
  }) => {
    await local.run('courses create --title Go --tags a --tags b,c --yes --yes')
    const list = 'courses list --columns tags --status draft --status published'
    expect((await local.run(list)).stdout).toBe('a, b, c\n')
  })

  test('given as the value of another stay it; variables give some', async ({ local }) => {
    const { stdout: taken } = await local.run('courses list', { env: { LEARNCTL_OUTPUT: 'json' } })
    expect(taken).toBe('[]\n')
    const { stdout } = await local.run(['courses', 'create', '--title', '--all', '-o', 'json'])
    expect(JSON.parse(stdout)).toMatchObject({ title: '--all' })
  })
})
