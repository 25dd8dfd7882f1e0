import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { pathArguments, thingsByName } from '../../../src/cli/completion/suggestions.ts'
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

  test('are found by an alias where nothing else begins so', async ({ cli }) => {
    expect(await words(cli, 'who')).toEqual(['whoami'])
    expect(await words(cli, 'profiles sw')).toEqual(['switch'])
    expect(await words(cli, 'courses l')).toEqual(['list'])
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

/** Arguments without suggestions: new names, and versions. */
// The arguments after `map` depend on the words before it, and modules on the course.
const free =
  /^(\w+ (diff|restore) version|profiles add name|server snapshot save name|integrations \w+ (key|reference)|modules \w+ module)$/

test('every argument is completed, but those that cannot be known', async () => {
  const others: string[] = []
  for (const [name, noun] of Object.entries(nouns)) {
    const loaded = await noun.load(host)
    for (const command of 'length' in loaded ? loaded : []) {
      for (const { name: argument, choices } of command.arguments ?? []) {
        const known = choices || argument in thingsByName || pathArguments.test(argument)
        const place = `${name} ${command.name} ${argument}`
        if (!known && !free.test(place)) others.push(place)
      }
    }
  }
  expect(others).toEqual([
    'analytics fields table',
    ...['get', 'describe', 'use', 'delete'].map((verb) => `profiles ${verb} name`),
    ...['restore', 'delete'].map((verb) => `server snapshot ${verb} name`),
  ])
})

test('tables of the data dictionary are completed', async ({ cli }) => {
  expect(await words(cli, 'analytics fields lear')).toEqual(['learners'])
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
    ['courses list --color ', ['auto', 'always', 'never']],
    ['courses list --columns title,stat', ['title,status']],
    ['courses update x --unset lang', ['language']],
    ['users list --timezone Europe/Berl', ['Europe/Berlin']],
    ['completion ', ['bash', 'zsh', 'fish', 'powershell']],
    ['open ', ['dashboard', 'course']],
    ['help exit', ['exit-codes']],
    ['help lesso', ['lessons']],
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

describe('what there is to refer to', () => {
  test('is offered by external id or e-mail, with its title', { tags: ['slow'] }, async ({ local }) => {
    await local.run(['courses', 'create', '--title', 'Marine Biology', '--external-id', 'BIO-101'])
    await local.run('users create --email ada@example.org --first-name Ada --last-name Lovelace')
    expect(await offered(local, 'courses get ')).toEqual(['ext:BIO-101\tMarine Biology'])
    expect(await offered(local, 'lessons list --course=')).toEqual(['--course=ext:BIO-101\tMarine Biology'])
    expect(await words(local, 'courses get BIO')).toEqual(['BIO-101'])
    expect(await words(local, 'courses get crs_')).toHaveLength(1)
    expect(await offered(local, 'progress get email:ada')).toEqual(['email:ada@example.org\tAda Lovelace'])
    expect(await words(local, 'open course ')).toEqual(['ext:BIO-101'])
    expect(await words(local, 'api courses.get ')).toEqual(['ext:BIO-101'])
  })

  test('follows what is written to the file', async ({ local }) => {
    await local.run('courses create --title One --external-id ONE')
    expect(await words(local, 'courses get ')).toEqual(['ext:ONE'])
    await local.run('courses create --title Two --external-id TWO')
    const both = await words(local, 'courses get ')
    expect(both.sort()).toEqual(['ext:ONE', 'ext:TWO'])
    await local.run('courses delete ext:ONE --yes')
    expect(await words(local, 'courses get ')).toEqual(['ext:TWO'])
    expect(await words(local, 'courses restore ')).toEqual(['ext:ONE'])
  })

  test('are the lessons of the course that is named', { tags: ['slow'] }, async ({ local }) => {
    for (const id of ['A', 'B']) {
      await local.run(`courses create --title ${id} --external-id ${id}`)
      await local.run(`lessons create --course ext:${id} --title ${id}1 --external-id ${id}1`)
    }
    expect(await words(local, 'lessons update --course ext:B ')).toEqual(['ext:B1'])
    expect(await words(local, 'lessons get ')).toHaveLength(2)
    expect(await words(local, 'lessons move ext:B1 --after ext:A')).toEqual(['ext:A1'])
  })

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

  test('are enrolments, grades and grants by what they are about', async ({ local }) => {
    await local.run('courses create --title Biology --external-id BIO')
    await local.run('courses publish ext:BIO')
    await local.run('users create --email ada@example.org')
    await local.run('enrollments create --course ext:BIO --user email:ada@example.org')
    const [enrolment = ''] = await offered(local, 'enrollments get ')
    expect(enrolment).toMatch(/^enr_\w+\tada@example\.org · Biology · /)
    expect(await words(local, 'auth grants revoke ')).toEqual([])
  })

  test('makes no academy where there is none, and leaves a damaged one alone', async ({ cli }) => {
    expect(await words(cli, 'courses get ')).toEqual([])
    expect(await words(cli, '--database new.db courses get ')).toEqual([])
    expect(existsSync(join(cli.cwd, 'new.db'))).toBe(false)
    writeFileSync(join(cli.cwd, 'bad.db'), 'no database')
    expect(await words(cli, '--database bad.db courses get ')).toEqual([])
    expect(readFileSync(join(cli.cwd, 'bad.db'), 'utf8')).toBe('no database')
    expect(await words(cli, '--database postgres://localhost/x courses get ')).toEqual([])
  })

  test('with what a terminal would obey in its name is left out, and shown harmless in a title', async ({
    local,
  }) => {
    await local.run(['courses', 'create', '--title', 'Red \u001b[31m\nsecond', '--external-id', 'RED'])
    await local.run(['courses', 'create', '--title', 'T', '--external-id', 'a\u202eb'])
    const [only = '', ...others] = await offered(local, 'courses get ext:')
    expect(others).toEqual([])
    expect(only).toBe('ext:RED\tRed \\x1b[31m\\nsecond')
  })
})

test('modules are completed by their titles, in the course that the line names', async ({ local }) => {
  await local.run('courses create --title Sea --external-id SEA')
  await local.run('modules create --course SEA --title Tides')
  await local.run('modules create --course SEA --title Reefs')
  expect(await offered(local, 'modules move --course SEA ')).toEqual(['Tides\tModule 1', 'Reefs\tModule 2'])
  expect(await words(local, 'lessons create --course SEA --module R')).toEqual(['Reefs'])
  expect(await words(local, 'modules move Reefs --course SEA --after R')).toEqual(['Reefs'])
  expect(await words(local, 'modules move ')).not.toContain('Tides')
})
