import { describe, expect } from 'vitest'
import { flagHabits, nounsByAlias, shortcuts, verbAliases } from '../../../src/cli/command/aliases.ts'
import { nouns } from '../../../src/cli/program/nouns.ts'
import { test } from '../../helpers/cli.ts'
import { host } from '../../helpers/host.ts'

const nounAliases = nounsByAlias(Object.keys(nouns))

/** All commands by noun, without aliases. */
const names = new Map<string, string[]>()
for (const [name, { load }] of Object.entries(nouns)) {
  const loaded = await load(host)
  names.set(name, 'length' in loaded ? loaded.map((command) => command.name) : [])
}

describe('an alias', () => {
  test('is the singular of each noun in the plural, and of no other', () => {
    const plurals = Object.values(nounAliases)
    const others = Object.keys(nouns).filter((noun) => !plurals.includes(noun))
    expect(others.filter((noun) => noun.endsWith('s'))).toEqual(['progress', 'analytics'])
  })

  test('stands for a command that there is', () => {
    const verbs = new Set([...names.values()].flat().flatMap((name) => name.split(' ').slice(-1)))
    expect(Object.values(nounAliases).filter((name) => !names.has(name))).toEqual([])
    expect(Object.values(shortcuts).filter(([noun, verb]) => !names.get(noun)?.includes(verb))).toEqual([])
    expect(
      Object.values(verbAliases)
        .flat()
        .filter((verb) => !verbs.has(verb)),
    ).toEqual([])
  })

  test.for([
    ['course ls', 'courses list'],
    ['enrolment add', 'enrollments create'],
    ['key rm', 'keys revoke'],
    ['auth grant list', 'auth grants list'],
    ['profiles create', 'profiles add'],
    ['progress edit', 'progress set'],
    ['login', 'auth login'],
    ['whoami', 'auth status'],
  ])('has the help of its command: %s', async ([typed = '', meant = ''], { cli }) => {
    const { code, stdout } = await cli.run(`${typed} --help`)
    expect(code).toBe(0)
    expect(stdout).toMatch(new RegExp(`^Usage: learnctl ${meant} `))
    expect(await cli.run(`help ${typed}`)).toMatchObject({ code: 0, stdout })
    expect(await cli.run(`--debug ${typed} --help`)).toMatchObject({ code: 0, stdout })
  })

  test('does what its command does, with flags anywhere', { tags: ['slow'] }, async ({ local }) => {
    const created = await local.run('-o json course new --title Biology --external-id BIO-101')
    expect(created).toMatchObject({ code: 0 })
    expect(await local.run('course ls -q')).toEqual(await local.run('courses list -q'))
    expect(await local.run('--columns title course show ext:BIO-101')).toMatchObject({
      code: 0,
      stdout: 'Biology\n',
    })
    expect(await local.run('course rm ext:BIO-101')).toMatchObject({ code: 2 })
    expect(await local.run('course rm ext:BIO-101 --yes')).toMatchObject({
      code: 0,
      stderr: expect.stringMatching(/^Deleted course Biology \(BIO-101\); restore until /),
    })
    expect(await local.run('whoami')).toEqual(await local.run('auth status'))
  })
})

describe('a flag that other programs have', () => {
  test.for([
    ['courses list --json', '-o json'],
    ['courses delete x --verbose', '--debug'],
    ['courses create --name X', '--title'],
    ['analytics export -f x.csv', '--file'],
  ])('is refused with what to type here: %s', async ([line = '', meant = ''], { local }) => {
    const { code, stdout, stderr } = await local.run(line)
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toContain(`hint: Did you mean ${meant}?`)
  })

  test('is hinted only where the flag that is meant is', async ({ local }) => {
    const { stderr } = await local.run('courses get x --name Y')
    expect(stderr).not.toContain('--title')
    expect(
      Object.values(flagHabits)
        .flat()
        .every((meant) => meant.startsWith('-')),
    ).toBe(true)
  })
})
