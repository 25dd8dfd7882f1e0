import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { test as base, describe, expect } from 'vitest'
import { parse } from 'yaml'
import manifest from '../package.json' with { type: 'json' }
import { freshDirectory } from './helpers/academy.ts'
import { shownFiles } from './helpers/examples.ts'
import { servePlatform } from './helpers/platform-server.ts'
import { bin, type Ended, root, run } from './helpers/process.ts'

const page = readFileSync(join(root, 'docs/ci.md'), 'utf8')
const [workflow = '', shared = '', listed = ''] = [...page.matchAll(/^```yaml\n([\s\S]*?)^```$/gm)].map(
  ([, text = '']) => text,
)
const { jobs } = parse(workflow) as { jobs: Record<string, Job> }
const sharedSteps = parse(shared) as Step[]
const listSteps = parse(listed) as Step[]
const actions = ['learnctl', 'academy'].map((name) => [name, readAction(name)] as const)

/** The learnctl of this checkout, as an installed program. */
function putProgram(folder: string, text = `exec '${process.execPath}' '${bin}' "$@"`): void {
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'learnctl'), `#!/bin/sh\n${text}\n`, { mode: 0o755 })
}

/** Makes a repository with one commit of all that is in a folder. */
function commitAll(cwd: string): void {
  for (const words of [
    ['init', '--quiet'],
    ['add', '.'],
    ['commit', '--quiet', '--allow-empty', '-m', 'all'],
  ]) {
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a', ...words], {
      cwd,
      env: { PATH: process.env['PATH'] },
    })
  }
}

/** A runner with a checkout that has the files of the recipes, and a cache that has learnctl. */
const test = base
  .extend('home', async ({ task: _ }, { onCleanup }) => {
    const { path, remove } = freshDirectory()
    onCleanup(remove)
    mkdirSync(join(path, 'work/learnctl'), { recursive: true })
    for (const [name, text] of shownFiles()) writeFileSync(join(path, 'work', name), text)
    return path
  })
  .extend('runJob', async ({ home }) => {
    const cache: FakeAction = ({ path = '' }) => {
      putProgram(join(path, 'bin'))
      return { 'cache-hit': 'true' }
    }
    const fakes = {
      'actions/checkout': ({ path }: Readonly<Record<string, string>>) => {
        if (path !== undefined) commitAll(join(home, 'work', path))
        return {}
      },
      'actions/cache': cache,
      'actions/setup-node': () => ({}),
      'actions/upload-artifact': () => ({}),
    }
    return (
      job: Job,
      { actions = {}, ...options }: Partial<Parameters<typeof runSteps>[1]> = {},
    ): ReturnType<typeof runSteps> => runSteps(job, { home, actions: { ...fakes, ...actions }, ...options })
  })
  .extend('seed', async ({ home, runJob }, { onCleanup }) => {
    const server = await servePlatform(home)
    onCleanup(() => server.stop())
    const values = { 'secrets.LEARNCTL_API_KEY': server.firstKey ?? '' }
    /** Runs the job that seeds a platform, which is that of the test. */
    return () =>
      runJob(jobs['seed'] ?? { steps: [] }, {
        values,
        replace: (text) => text.replace('https://academy.example.org', server.url),
      })
  })

const temp = (home: string) => join(home, 'temp')
/** Academies in the temporary folder; Node puts its compile cache there, too. */
const kept = (home: string) => readdirSync(temp(home)).filter((name) => name.startsWith('learnctl-exec'))
const install: Step = { id: 'learnctl', uses: './learnctl/.github/actions/learnctl' }

describe('the workflow for GitHub Actions', () => {
  const steps = [...Object.values(jobs), { steps: sharedSteps }].flatMap((job) => job.steps)

  test('uses actions by their version or from the checkout, and uploads with a name and a path', () => {
    for (const { uses, run: script, with: given } of steps) {
      expect(uses ?? 'actions/none@v1').toMatch(
        /^(actions\/[a-z-]+@v\d+|\.\/learnctl\/\.github\/actions\/[a-z]+)$/,
      )
      expect([uses, script].filter((each) => each !== undefined)).toHaveLength(1)
      if (uses?.includes('upload'))
        expect(Object.keys(given ?? {})).toEqual(expect.arrayContaining(['name', 'path']))
    }
  })

  test('checks out learnctl at the tag of a version', () => {
    const refs = steps.flatMap(({ with: given }) =>
      given?.['repository'] === undefined ? [] : [given['ref']],
    )
    expect(refs).toHaveLength(2)
    for (const ref of refs) expect(ref).toMatch(/^v\d+\.\d+\.\d+$/)
  })

  test('tests against a temporary academy', async ({ runJob }) => {
    const ended = await runJob(jobs['test'] ?? { steps: [] })
    // The seeds of an academy are no results of the workflow.
    expect(ended, ended.log).toMatchObject({ code: 0, summary: '' })
  })

  test('seeds the platform, again at any time, and exports what it uploads', async ({ home, seed }) => {
    const upload = jobs['seed']?.steps.find((step) => step.uses?.includes('upload') && !step.if)
    for (let time = 0; time < 2; time += 1) {
      const ended = await seed()
      expect(ended, ended.log).toMatchObject({ code: 0 })
      const file = join(home, 'work', String(upload?.with?.['path']))
      expect(existsSync(file)).toBe(true)
      rmSync(file)
    }
  })

  test('fails with 8 where rows are rejected, and leaves them in a file', async ({ home, seed }) => {
    writeFileSync(join(home, 'work/users.csv'), 'email\ngrace@example.org\nnobody\n')
    expect(await seed()).toMatchObject({
      code: 8,
      stderr: expect.stringContaining('\n::error file=users.csv,line=3,title=learnctl::email: must be'),
      summary: expect.stringMatching(/^### Imported 2 rows.*\n### Imported 1 row of 2 from users\\.csv\n/s),
    })
    const path = jobs['seed']?.steps.find((step) => step.if === 'failure()')?.with?.['path']
    expect(path).toBe('*.errors.csv')
    expect(readFileSync(join(home, 'work/users.errors.csv'), 'utf8')).toContain('nobody')
  })
})

describe('the actions', () => {
  test.for(actions)('%s passes its inputs to scripts as variables, and names the shell', ([, { runs }]) => {
    expect(runs.using).toBe('composite')
    for (const step of runs.steps) {
      expect(step.run ?? '').not.toContain('${{')
      if (step.run === undefined) expect(step.uses).toMatch(/^actions\/[a-z-]+@v\d+$/)
      else expect(step.shell).toBe('bash')
    }
  })

  test.for(actions)('%s has all its inputs in the documentation', ([name, { inputs }]) => {
    const table = page.slice(page.indexOf(`| Input of \`${name}\``)).split('\n\n')[0]
    for (const input of Object.keys(inputs)) expect(table).toContain(`\`${input}\``)
  })
})

describe('the action learnctl', () => {
  /** A package whose install script shows that it ran, and which a clone builds. */
  function putPackage(folder: string, version: string): void {
    mkdirSync(join(folder, 'bin'), { recursive: true })
    const scripts = {
      install: 'touch "$RUNNER_TEMP/scripts-ran"',
      build: `echo 'echo ${version}' >> bin/learnctl.sh`,
    }
    const named = { name: 'learnctl', version }
    const bins = { bin: { learnctl: 'bin/learnctl.sh' } }
    writeFileSync(join(folder, 'package.json'), JSON.stringify({ ...named, ...bins, scripts }))
    const lock = { ...named, lockfileVersion: 3, packages: { '': { ...named, ...bins } } }
    writeFileSync(join(folder, 'package-lock.json'), JSON.stringify(lock))
    writeFileSync(join(folder, 'bin/learnctl.sh'), '#!/bin/sh\n', { mode: 0o755 })
  }

  const keyed: { key: string; path: string }[] = []
  const miss: FakeAction = ({ key = '', path = '' }) => {
    keyed.push({ key, path })
    return { 'cache-hit': '' }
  }
  const offline = { npm_config_offline: 'true' }

  test('builds the folder of a clone without scripts, cached by content', async ({ home, runJob }) => {
    const clone = join(home, 'work/learnctl')
    putPackage(clone, '7.8.9')
    commitAll(clone)
    const { stdout: tree } = await run('git', ['rev-parse', 'HEAD:./'], { cwd: clone })
    const steps = [{ ...install, with: { from: 'learnctl' } }, { run: 'learnctl --version' }]
    const ended = await runJob({ env: offline, steps }, { actions: { 'actions/cache': miss } })
    expect(ended, ended.log).toMatchObject({
      code: 0,
      stdout: '7.8.9\n',
      outputs: { learnctl: { version: '7.8.9' } },
    })
    expect(existsSync(join(temp(home), 'scripts-ran'))).toBe(false)
    expect(ended.used).toEqual(['actions/cache'])
    const modules = process.versions.modules
    expect(keyed.at(-1)).toEqual({
      key: `learnctl-Linux-X64-node${modules}-folder-${tree.trim()}`,
      path: join(temp(home), 'learnctl'),
    })
  })

  test('installs a packed file', async ({ home, runJob }) => {
    putPackage(join(home, 'work/learnctl'), '7.8.9')
    const env = { npm_config_offline: 'true', HOME: home }
    await run('npm', ['pack', '--ignore-scripts'], { cwd: join(home, 'work/learnctl'), env })
    writeFileSync(join(home, 'work/learnctl/bin/learnctl.sh'), '')
    const from = 'learnctl/learnctl-7.8.9.tgz'
    const ended = await runJob(
      { env: offline, steps: [{ ...install, with: { from } }] },
      { actions: { 'actions/cache': miss } },
    )
    expect(ended, ended.log).toMatchObject({ code: 0 })
    expect(keyed.at(-1)?.key).toMatch(/-file-[0-9a-f]{64}$/)
    expect(existsSync(join(temp(home), 'scripts-ran'))).toBe(false)
  })

  test('installs its own version from npm unless told or cached', async ({ home, runJob }) => {
    putProgram(join(home, 'bin'), 'echo 1.2.3')
    // npm of the test installs what it is asked for by name.
    writeFileSync(
      join(home, 'bin/npm'),
      '#!/bin/sh\necho "$*" >> "$HOME/npm"\nmkdir -p "$RUNNER_TEMP/learnctl/bin"\ncp "$HOME/bin/learnctl" "$RUNNER_TEMP/learnctl/bin/"\n',
      { mode: 0o755 },
    )
    const path = [join(home, 'bin')]
    const asked = () => readFileSync(join(home, 'npm'), 'utf8').trim().split('\n')
    await runJob({ steps: [install] }, { path, actions: { 'actions/cache': miss } })
    await runJob(
      { steps: [{ ...install, with: { version: '0.0.7-rc.1' } }] },
      { path, actions: { 'actions/cache': miss } },
    )
    expect(asked()).toEqual(
      [manifest.version, '0.0.7-rc.1'].map(
        (version) =>
          `install --global --ignore-scripts --no-audit --no-fund --prefix ${temp(home)}/learnctl learnctl@${version}`,
      ),
    )
    expect(keyed.slice(-2).map(({ key }) => key.replace(/.*npm-/, ''))).toEqual([
      manifest.version,
      '0.0.7-rc.1',
    ])
    expect(await runJob({ steps: [install] }, { path })).toMatchObject({ code: 0 })
    expect(asked()).toHaveLength(2)
  })

  test.for([
    [{ version: 'latest' }, 'must be exact, such as'],
    [{ version: '1.0.0; touch injected' }, 'must be exact'],
    [{ from: '$(touch injected)' }, 'names no file or folder'],
    [{ from: 'learnctl', version: '0.1.0' }, 'cannot be used together'],
  ] as const)('refuses %j, which no shell runs', async ([given, text], { home, runJob }) => {
    const ended = await runJob({ steps: [{ ...install, with: given }] })
    expect(ended).toMatchObject({ code: 1, stdout: expect.stringContaining(text) })
    expect(existsSync(join(home, 'work/injected'))).toBe(false)
  })

  test('sets up Node where that of the runner is older', async ({ home, runJob }) => {
    putProgram(join(home, 'old'), '')
    writeFileSync(join(home, 'old/node'), '#!/bin/sh\nexit 1\n', { mode: 0o755 })
    const setUp: FakeAction = (given) => {
      expect(given).toEqual({ 'node-version': '^24.15.0' })
      rmSync(join(home, 'old/node'))
      return {}
    }
    const ended = await runJob(
      { steps: [install] },
      { path: [join(home, 'old')], actions: { 'actions/setup-node': setUp } },
    )
    expect(ended, ended.log).toMatchObject({ code: 0, used: ['actions/setup-node', 'actions/cache'] })
  })
})

describe('the action academy', () => {
  const pid = `\${{ steps.academy.outputs.pid }}`
  const stop: Step = { if: 'always()', env: { PID: pid }, run: 'kill "$PID"' }

  test('serves one academy to several steps, with a masked key', async ({ home, runJob }) => {
    const steps = [install, ...sharedSteps, stop]
    const ended = await runJob({ steps })
    expect(ended, ended.log).toMatchObject({ code: 0, env: {} })
    const { url, 'api-key': key = '' } = ended.outputs['academy'] ?? {}
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/)
    // The line that masks the key is the only one with it, and the first.
    expect(ended.log.split(key)).toHaveLength(2)
    expect(ended.log).toContain(`\n::add-mask::${key}\nServing ${url}\n`)
    await expect.poll(() => kept(home)).toEqual([])
  })

  test('begins with a snapshot, seeds, captures webhooks, sets variables', async ({ home, runJob }) => {
    const academy: Step = {
      id: 'academy',
      uses: './learnctl/.github/actions/academy',
      with: {
        ...{ snapshot: 'begin.db', seed: '\n  terms=terms of 2026.csv\n\nusers=users.csv\n' },
        ...{ 'webhooks-file': 'webhooks.jsonl', port: 0, 'set-environment': true },
      },
    }
    const terms = 'externalId,name,startDate,endDate\nS,Spring,2026-01-01,2026-06-30\n'
    writeFileSync(join(home, 'work/terms of 2026.csv'), terms)
    const steps = [
      install,
      { env: { LEARNCTL_URL: '' }, run: 'learnctl courses import courses.csv --database begin.db' },
      academy,
      ...listSteps,
      { run: 'learnctl terms list && learnctl users create --email eve@example.org' },
      stop,
    ]
    const env = { LEARNCTL_URL: 'https://academy.example.org' }
    const ended = await runJob({ env, steps })
    expect(ended, ended.log).toMatchObject({ code: 0 })
    expect(ended.env).toEqual({
      LEARNCTL_URL: ended.outputs['academy']?.['url'],
      LEARNCTL_API_KEY: ended.outputs['academy']?.['api-key'],
    })
    expect(ended.log).toMatch(/^::stop-commands::([0-9a-f-]{36})\n.*\tcrs_\w+\n::\1::$/ms)
    expect(ended.log).toContain('Spring')
    expect(readFileSync(join(home, 'work/webhooks.jsonl'), 'utf8')).toMatch(/^\{.*"user\.created".*\}\n$/)
    await expect.poll(() => kept(home)).toEqual([])
  })

  test('fails with the reason where it cannot start, and leaves nothing behind', async ({ home, runJob }) => {
    const academy = { uses: './learnctl/.github/actions/academy', with: { seed: '$(touch injected).csv' } }
    const ended = await runJob({ steps: [install, academy] })
    expect(ended).toMatchObject({ code: 1, stderr: expect.stringContaining('file not found') })
    expect(readdirSync(join(home, 'work'))).not.toContain('injected')
    expect(kept(home)).toEqual([])
  })

  test('asks for learnctl where it is not installed', async ({ home, runJob }) => {
    const academy = { uses: './learnctl/.github/actions/academy' }
    mkdirSync(join(home, 'bin'))
    symlinkSync('/bin/bash', join(home, 'bin/bash'))
    const ended = await runJob({ steps: [academy] }, { systemPath: join(home, 'bin') })
    expect(ended).toMatchObject({
      code: 1,
      stdout: '::error::Install learnctl in an earlier step of the job\n',
    })
  })
})

/** A step of a workflow or a composite action. */
interface Step {
  readonly id?: string
  readonly name?: string
  readonly uses?: string
  readonly run?: string
  readonly if?: string
  readonly shell?: string
  readonly env?: Readonly<Record<string, string>>
  readonly with?: Readonly<Record<string, string | number | boolean>>
}

interface Job {
  readonly env?: Readonly<Record<string, string>>
  readonly steps: readonly Step[]
}

/** A composite action. */
interface Action {
  readonly inputs: Readonly<
    Record<string, { readonly description: string; readonly default?: string; readonly required?: boolean }>
  >
  readonly outputs: Readonly<Record<string, { readonly description: string; readonly value: string }>>
  readonly runs: { readonly using: string; readonly steps: readonly Step[] }
}

/** Reads an action of this project by its name. */
function readAction(name: string): Action {
  return parse(readFileSync(join(root, '.github/actions', name, 'action.yml'), 'utf8')) as Action
}

/** Stands for an action of others: gets its inputs, and returns its outputs. */
type FakeAction = (given: Readonly<Record<string, string>>) => Readonly<Record<string, string>>

/** Options of a runner. */
interface RunnerOptions {
  /** Home of the runner, with its folders `work` (the workspace) and `temp`. */
  readonly home: string
  /** Values of contexts, such as `secrets.KEY`. */
  readonly values?: Readonly<Record<string, string>>
  /** Actions of others, by name without version. */
  readonly actions?: Readonly<Record<string, FakeAction>>
  /** Changes a script or the value of a variable before it is used. */
  readonly replace?: (text: string) => string
  /** Folders in front of the PATH. */
  readonly path?: readonly string[]
  /** The rest of the PATH (default that of this process). */
  readonly systemPath?: string
}

/** Options of the shell, with `shell: bash` and without: docs.github.com, workflow syntax, `jobs.<job_id>.steps[*].shell`. */
const shellOptions = { bash: ['--noprofile', '--norc', '-e', '-o', 'pipefail'], none: ['-e'] }
const nothing: Ended = { code: 0, signal: null, stdout: '', stderr: '' }

/**
 * Runs the steps of a job as the runner of GitHub does: its expressions, composite actions of this project, the files
 * GITHUB_OUTPUT, GITHUB_ENV and GITHUB_PATH, and conditions. Actions of others are fakes. Returns the last step that ran,
 * and all that its steps have printed and set.
 */
async function runSteps(job: Job, options: RunnerOptions) {
  const { home, actions = {}, values = {}, replace = (text) => text } = options
  const [work, temp] = [join(home, 'work'), join(home, 'temp')]
  const path = [...(options.path ?? [])]
  const variables: Record<string, string> = {}
  /** Names of the actions of others, in order. */
  const used: string[] = []
  /** Standard output and error of all steps. */
  let log = ''
  let summary = ''
  let files = 0

  /** Reads what a step has written to one of its files: `name=value` lines. */
  const pairsIn = (file: string) =>
    Object.fromEntries(
      readFileSync(file, 'utf8')
        .split('\n')
        .filter(Boolean)
        .map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
    )

  type Texts = Readonly<Record<string, string>>
  const replaced = (texts: Texts) =>
    Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, replace(text)]))

  async function runScript(
    { run: script = '', shell }: Step,
    jobEnv: Texts,
    env: Texts,
    folder: string | null,
  ) {
    files += 1
    const fileOf = (name: string) => join(temp, `_${name}_${files}`)
    const names = ['GITHUB_OUTPUT', 'GITHUB_ENV', 'GITHUB_PATH', 'GITHUB_STEP_SUMMARY']
    for (const name of names) writeFileSync(fileOf(name), '')
    const ended = await run(
      'bash',
      [...shellOptions[shell === 'bash' ? shell : 'none'], '-c', replace(script)],
      {
        cwd: work,
        env: {
          ...{ HOME: home, CI: 'true', GITHUB_ACTIONS: 'true', GITHUB_WORKSPACE: work },
          ...{ RUNNER_TEMP: temp, RUNNER_OS: 'Linux', RUNNER_ARCH: 'X64' },
          ...(folder !== null && { GITHUB_ACTION_PATH: folder }),
          ...Object.fromEntries(names.map((name) => [name, fileOf(name)])),
          ...replaced(jobEnv),
          ...variables,
          ...replaced(env),
          PATH: [...path, options.systemPath ?? process.env['PATH']].join(delimiter),
        },
      },
    )
    log += ended.stdout + ended.stderr
    summary += readFileSync(fileOf('GITHUB_STEP_SUMMARY'), 'utf8')
    Object.assign(variables, pairsIn(fileOf('GITHUB_ENV')))
    path.unshift(...readFileSync(fileOf('GITHUB_PATH'), 'utf8').split('\n').filter(Boolean))
    return { ended, outputs: pairsIn(fileOf('GITHUB_OUTPUT')) }
  }

  async function runAll(
    steps: readonly Step[],
    inputs: Readonly<Record<string, string>>,
    folder: string | null,
  ): Promise<{ ended: Ended; outputs: Record<string, Record<string, string>> }> {
    const outputs: Record<string, Record<string, string>> = {}
    let ended = nothing
    const lookUp = (name: string): string => {
      const [context, first = '', , last = ''] = name.split('.')
      if (context === 'inputs') return inputs[first] ?? ''
      if (context === 'steps') return outputs[first]?.[last] ?? ''
      if (name === 'runner.temp') return temp
      const value = values[name]
      if (value === undefined) throw new Error(`no value for ${name}`)
      return value
    }
    const filled = (text: string) => text.replace(/\$\{\{ ([\w.-]+) \}\}/g, (_, name: string) => lookUp(name))
    const filledIn = (texts: Step['with'] = {}) =>
      Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, filled(String(text))]))
    for (const step of steps) {
      if (!isDue(step.if, ended.code !== 0, lookUp)) continue
      let own: Record<string, string> = {}
      if (step.run !== undefined) {
        const ran = await runScript(
          { ...step, run: filled(step.run) },
          filledIn(job.env),
          filledIn(step.env),
          folder,
        )
        own = ran.outputs
        if (ended.code === 0) ended = ran.ended
      } else if (step.uses?.startsWith('./')) {
        const name = step.uses.slice(step.uses.lastIndexOf('/') + 1)
        const action = readAction(name)
        const defaults = Object.entries(action.inputs).map(([input, { default: text = '' }]) => [input, text])
        const given = filledIn(step.with)
        const unknown = Object.keys(given).filter((input) => action.inputs[input] === undefined)
        if (unknown.length > 0) throw new Error(`${name} has no input ${unknown}`)
        const all = { ...Object.fromEntries(defaults), ...given }
        const inner = await runAll(action.runs.steps, all, join(root, '.github/actions', name))
        if (ended.code === 0) ended = inner.ended
        own = Object.fromEntries(
          Object.entries(action.outputs).map(([output, { value }]) => [
            output,
            value.replace(/\$\{\{ steps\.([\w-]+)\.outputs\.([\w-]+) \}\}/g, (_, id: string, of: string) => {
              return inner.outputs[id]?.[of] ?? ''
            }),
          ]),
        )
      } else {
        const [name = ''] = step.uses?.split('@') ?? []
        const fake = actions[name]
        if (!fake) throw new Error(`no fake of the action ${name}`)
        used.push(name)
        own = { ...fake(filledIn(step.with)) }
      }
      if (step.id !== undefined) outputs[step.id] = own
    }
    return { ended, outputs }
  }

  for (const folder of [work, temp]) mkdirSync(folder, { recursive: true })
  const { ended, outputs } = await runAll(job.steps, {}, null)
  return { ...ended, log, summary, outputs, env: variables, used }
}

/** Evaluates a condition: a status function, or a comparison of a value with a text. */
function isDue(condition: string | undefined, hasFailed: boolean, lookUp: (name: string) => string): boolean {
  if (condition === undefined) return !hasFailed
  if (condition === 'always()') return true
  if (condition === 'failure()') return hasFailed
  const [, name = '', operator, text = ''] = /^([\w.-]+) ([!=]=) '(.*)'$/.exec(condition) ?? []
  if (name === '') throw new Error(`no such condition: ${condition}`)
  return !hasFailed && (lookUp(name) === text) === (operator === '==')
}
