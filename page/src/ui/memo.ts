// A component that is drawn anew only if one of its properties has changed.
import { Component, h, type ComponentType, type FunctionComponent } from "preact";

export function memo<P extends object>(inner: FunctionComponent<P>): ComponentType<P> {
  return class Memo extends Component<P> {
    override shouldComponentUpdate(next: P): boolean {
      const before = this.props as P;
      return (Object.keys(next) as (keyof P)[]).some((name) => next[name] !== before[name]);
    }
    override render() {
      return h(inner, this.props as P);
    }
  };
}
