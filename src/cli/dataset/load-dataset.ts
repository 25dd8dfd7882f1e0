import type { Dataset, DatasetName } from './dataset.ts'

export async function loadDataset(name: DatasetName): Promise<Dataset> {
  if (name === 'terms' || name === 'courses' || name === 'lessons')
    return (await import('./courses.ts'))[name]
  if (name === 'grades' || name === 'progress') return (await import('./progress.ts'))[name]
  return (await import('./people.ts'))[name]
}
