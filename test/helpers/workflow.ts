import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { parse } from 'yaml'
import { type Ended, root, run } from './process.ts'

/** A step of a workflow or a composite action. */
export interface Step {
  readonly id?: string
  readonly name?: string
  readonly uses?: string
  readonly run?: string
  readonly if?: string
  readonly shell?: string
  readonly env?: Readonly<Record<string, string>>
  readonly with?: Readonly<Record<string, string | number | boolean>>
}

export interface Job {
  readonly env?: Readonly<Record<string, string>>
  readonly steps: readonly Step[]
}

/** A composite action. */
export interface Action {
  readonly inputs: Readonly<
    Record<string, { readonly description: string; readonly default?: string; readonly required?: boolean }>
  >
  readonly outputs: Readonly<Record<string, { readonly description: string; readonly value: string }>>
  readonly runs: { readonly using: string; readonly steps: readonly Step[] }
}

/** Reads an action of this project by its name. */
export function readAction(name: string): Action {
  return parse(readFileSync(join(root, '.github/actions', name, 'action.yml'), 'utf8')) as Action
}

/** Stands for an action of others: gets its inputs, and returns its outputs. */
export type FakeAction = (given: Readonly<Record<string, string>>) => Readonly<Record<string, string>>

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

/** Result of a job: its last step that ran, and all that its steps have printed and set. */
export interface Ran extends Ended {
  /** Standard output and error of all steps, as the log has them. */
  readonly log: string
  /** Markdown of all summaries. */
  readonly summary: string
  /** Outputs of the steps with an id. */
  readonly outputs: Readonly<Record<string, Readonly<Record<string, string>>>>
  /** Variables from GITHUB_ENV. */
  readonly env: Readonly<Record<string, string>>
  /** Names of the actions of others that were used, in order. */
  readonly used: readonly string[]
}

/** Options of the shell, with `shell: bash` and without: docs.github.com, workflow syntax, `jobs.<job_id>.steps[*].shell`. */
const shellOptions = { bash: ['--noprofile', '--norc', '-e', '-o', 'pipefail'], none: ['-e'] }
const nothing: Ended = { code: 0, signal: null, stdout: '', stderr: '' }

/**
 * Runs the steps of a job as the runner of GitHub does: its expressions, composite actions of this project, the files
 * GITHUB_OUTPUT, GITHUB_ENV and GITHUB_PATH, and conditions. Actions of others are fakes.
 */
export async function runSteps(job: Job, options: RunnerOptions): Promise<Ran> {
  const { home, actions = {}, values = {}, replace = (text) => text } = options
  const [work, temp] = [join(home, 'work'), join(home, 'temp')]
  const path = [...(options.path ?? [])]
  const variables: Record<string, string> = {}
  const used: string[] = []
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
