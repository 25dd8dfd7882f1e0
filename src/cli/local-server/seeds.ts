import { readdir, stat } from 'node:fs/promises'
import { basename, join, resolve } from 'node:path'
import { type DatasetName, datasetNames } from '../dataset/dataset.ts'
import { UsageError } from '../terminal/errors.ts'
import type { Io } from '../terminal/io.ts'

/** Content of a new academy: the bundled examples, academy files, a course file, or a file of records. */
export type Seed =
  | { readonly kind: 'examples' }
  | { readonly kind: 'academy' | 'course'; readonly file: string }
  | { readonly kind: 'records'; readonly dataset: DatasetName; readonly file: string }

const academyForm = /^academy\.ya?ml$/i
const courseForm = /\.ya?ml$/i
const nameForms = datasetNames.map((name) => `${name}.csv`).join(', ')

/**
 * Returns the seeds for `examples`, `academy.yaml`, `course.yaml`, `users.csv`, `users=people.csv`, or a
 * directory with such files, ordered so that each refers only to earlier ones. Throws a UsageError for a
 * missing file, or a name that is none of these.
 */
export async function findSeeds(io: Pick<Io, 'cwd'>, texts: readonly string[]): Promise<Seed[]> {
  const seeds = (await Promise.all(texts.map((text) => seedsIn(io, text)))).flat()
  // The sort is stable: files for one dataset keep their order.
  return seeds.sort((one, other) => orderOf(one) - orderOf(other))
}

function orderOf(seed: Seed): number {
  if (seed.kind === 'records') return datasetNames.indexOf(seed.dataset)
  return ['examples', 'academy', 'course'].indexOf(seed.kind) - 3
}

async function seedsIn({ cwd }: Pick<Io, 'cwd'>, text: string): Promise<Seed[]> {
  if (text === 'examples') return [{ kind: 'examples' }]
  const [, name = '', named] = /^(\w+)=(.+)$/.exec(text) ?? []
  const file = named ?? text
  const found = await stat(resolve(cwd, file)).catch(() => null)
  if (!found) throw new UsageError(`Cannot read --seed ${file}: file not found`)
  if (named === undefined ? academyForm.test(basename(file)) : name === 'academy')
    return [{ kind: 'academy', file }]
  if (named === undefined && found.isDirectory()) return seedsInFolder(cwd, file)
  if (named === undefined && courseForm.test(file)) return [{ kind: 'course', file }]
  const dataset = named === undefined ? datasetOf(file) : datasetNames.find((each) => each === name)
  if (dataset) return [{ kind: 'records', dataset, file }]
  throw new UsageError(`--seed ${text} does not say what the file contains`, {
    why: [
      `Its name must be academy.yaml, that of a course file (.yaml), or one of ${nameForms}, with any ending that import takes`,
    ],
    hint: `Name it: --seed users=${file}`,
  })
}

export function seedCommandLine(seed: Exclude<Seed, { kind: 'examples' }>): string[] {
  if (seed.kind === 'records') return [seed.dataset, 'import', seed.file]
  return seed.kind === 'academy' ? ['apply', seed.file] : ['courses', 'apply', '-f', seed.file]
}

async function seedsInFolder(cwd: string, folder: string): Promise<Seed[]> {
  const names = (await readdir(resolve(cwd, folder))).sort()
  const seeds = names.flatMap((name): Seed[] => {
    if (academyForm.test(name)) return [{ kind: 'academy', file: join(folder, name) }]
    if (courseForm.test(name)) return [{ kind: 'course', file: join(folder, name) }]
    const dataset = datasetOf(name)
    return dataset ? [{ kind: 'records', dataset, file: join(folder, name) }] : []
  })
  if (seeds.length > 0) return seeds
  throw new UsageError(`--seed ${folder} contains no file to import`, {
    why: [`Files must be named ${nameForms}, with any ending that import takes`],
  })
}

/**
 * Returns the dataset that a file's name stands for: `users.csv`, `users.2026.jsonl.gz`; none for rejected
 * rows, `users.errors.csv`.
 */
function datasetOf(file: string): DatasetName | undefined {
  const [, stem, ending = ''] =
    /^([a-z]+)((?:\.[\w-]+)*\.(?:csv|tsv|txt|json|jsonl|ndjson)(?:\.gz)?)$/i.exec(basename(file)) ?? []
  return ending.includes('.errors') ? undefined : datasetNames.find((name) => name === stem)
}
