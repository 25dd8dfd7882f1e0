import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { nouns } from '../../../src/cli/program/nouns.ts'
import { settings } from '../../../src/config/setting.ts'
import { type TestCli, test } from '../../helpers/cli.ts'
import { host } from '../../helpers/host.ts'

/** Returns the output for fish: words, with their meanings after a tab. */
async function offered(cli: TestCli, line: string, env: Record<string, string> = {}): Promise<string[]> {
  const { code, stdout, stderr } = await cli.run(['__complete', 'fish', `learnctl ${line}`], { env })
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  return stdout.split('\n').slice(1, -1)
}

/** Returns only the words. */
async function words(cli: TestCli, line: string, env?: Record<string, string>): Promise<string[]> {
  return (await offered(cli, line, env)).map((each) => each.split('\t')[0] ?? '')
}

describe('commands', () => {
  test('are offered with what they do, from noun to verb', async ({ cli }) => {
    expect(await words(cli, '')).toEqual(Object.keys(nouns))
    expect(await offered(cli, 'cour')).toEqual(['courses\tManage courses and their versions'])
    expect(await words(cli, 'courses p')).toEqual(['publish'])
    expect(await offered(cli, 'auth gr')).toEqual([
      'grants\tManage the applications that may act on your behalf',
    ])
    expect(await words(cli, 'auth grants ')).toEqual(['list', 'revoke'])
  })

  test('are offered behind global flags, aliases and another command of the line', async ({ cli }) => {
    expect(await words(cli, '--output json --quiet course pub')).toEqual(['publish'])
    expect(await words(cli, '-o json course pub')).toEqual(['publish'])
    expect(await words(cli, 'courses list | learnctl less')).toEqual(['lessons'])
    expect(await words(cli, 'courses list; learnctl less')).toEqual(['lessons'])
  })

  test('that do not exist offer nothing', async ({ cli }) => {
    for (const line of ['nonsense ', 'courses nonsense ', 'courses get x y ', '__proto__ ']) {
      expect(await words(cli, line)).not.toContain('courses')
    }
    expect(await cli.run(['__complete'])).toMatchObject({ code: 0, stderr: '' })
    expect(await cli.run(['__complete', 'fish', ''])).toMatchObject({ code: 0, stderr: '' })
  })

  test('offer every flag that their help has', { tags: ['slow'] }, async ({ cli }) => {
    for (const [name, noun] of Object.entries(nouns)) {
      const loaded = await noun.load(host)
      for (const command of 'length' in loaded ? loaded : [loaded]) {
        const path = 'length' in loaded ? `${name} ${command.name}` : name
        const own = (command.flags ?? []).map((flag) => `--${flag.name}`)
        const refused = command.refuses ?? {}
        const global = Object.entries(settings).flatMap(([setting, { flag }]) =>
          setting in refused ? [] : [`--${flag}`],
        )
        const found = await words(cli, `${path} --`)
        expect(found, path).toEqual(expect.arrayContaining([...own, ...global, '--help']))
      }
    }
  })
})

describe('flags', () => {
  test('are told with what they mean, and not again once they are given', async ({ cli }) => {
    expect(await offered(cli, 'courses create --tit')).toEqual(['--title\tTitle (required)'])
    expect(await words(cli, 'courses create --title X --ti')).toEqual(['--timeout'])
    expect(await words(cli, 'courses export --columns X --map')).toHaveLength(0)
    expect(await words(cli, 'grades set x --no-pub')).toEqual(['--no-published'])
    expect(await words(cli, 'courses list -- --ti')).toEqual([])
  })

  test.for([
    ['courses list --difficulty ', ['beginner', 'intermediate', 'advanced', 'expert']],
    ['courses list --difficulty=adv', ['--difficulty=advanced']],
    ['courses list --status draft,p', ['draft,published']],
    ['courses list --status draft,', ['draft,published', 'draft,archived']],
    ['courses list --sort -t', ['-title']],
    ['courses list -o j', ['json', 'jsonl']],
    ['courses list --columns title,stat', ['title,status']],
    ['courses update x --unset lang', ['language']],
    ['users list --timezone Europe/Berl', ['Europe/Berlin']],
    ['help exit', ['exit-codes']],
    ['api lessons.g', ['lessons.get']],
    ['api DEL', ['DELETE']],
  ] as const)('offer what they take: %s', async ([line, values], { cli }) => {
    expect(await words(cli, line)).toEqual(values)
  })

  test('and arguments that take a file leave it to the shell', async ({ cli }) => {
    for (const line of ['courses import x', 'analytics export --file ', '--database ', 'courses list > ']) {
      const { stdout } = await cli.run(['__complete', 'bash', `learnctl ${line}`, '', '9'])
      expect(stdout, line).toBe('files\n')
    }
  })

  test('that take @file offer the files of the folder', async ({ cli }) => {
    writeFileSync(join(cli.cwd, 'course.yaml'), '')
    expect(await words(cli, 'courses create --body @cou')).toEqual(['@course.yaml'])
    expect(await words(cli, 'courses create --body @nowhere/')).toEqual([])
  })
})

describe('names that are kept on this machine', () => {
  test('are profiles, with where they lead', async ({ cli }) => {
    await cli.run('profiles add work --url https://academy.example.org')
    await cli.run('profiles add trial --database trial.db')
    const both = ['work\thttps://academy.example.org (active)', `trial\t${join(cli.cwd, 'trial.db')}`]
    expect(await offered(cli, 'profiles use ')).toEqual(both)
    expect(await offered(cli, 'courses list --profile ')).toEqual(both)
    expect(await words(cli, 'profiles add ')).toEqual([])
  })

  test('are the snapshots of the academy', async ({ local }) => {
    expect(await local.run('server snapshot save clean')).toMatchObject({ code: 0 })
    expect(await words(local, 'server snapshot restore ')).toEqual(['clean'])
    expect(await words(local, 'server snapshot delete cl')).toEqual(['clean'])
    expect(await words(local, 'server snapshot save ')).toEqual([])
  })
})

test('what a shell would have to quote is left out', async ({ cli }) => {
  writeFileSync(join(cli.cwd, 'a b.yaml'), '')
  writeFileSync(join(cli.cwd, '$(touch pwned).yaml'), '')
  writeFileSync(join(cli.cwd, 'course.yaml'), '')
  expect(await words(cli, 'courses create --body @')).toEqual(['@course.yaml'])
})
