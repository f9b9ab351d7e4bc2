// The nodes of a zone as shapes in fixed places. They are made once; frames change their level only.
import { Component, createRef } from "preact";
import type { TemplateNode } from "../api/types";
import { register } from "../store/painter";

interface Props { zone: number; template: TemplateNode[]; cell: number }

export class NodeMatrix extends Component<Props> {
  private root = createRef<SVGSVGElement>();
  private forget: () => void = () => undefined;

  override shouldComponentUpdate(next: Props): boolean {
    return next.zone !== this.props.zone || next.template !== this.props.template || next.cell !== this.props.cell;
  }
  override componentDidMount(): void {
    this.forget = register(this.props.zone, [...this.root.current!.children]);
  }
  override componentDidUpdate(): void {
    this.forget();
    this.componentDidMount();
  }
  override componentWillUnmount(): void {
    this.forget();
  }
  override render({ template, cell }: Props) {
    const rows = 1 + Math.max(...template.map((node) => node.row));
    const columns = 1 + Math.max(...template.map((node) => node.column));
    const step = 13;
    return (
      <svg ref={this.root} class="matrix" width={columns * cell} height={rows * cell} viewBox={`0 0 ${columns * step} ${rows * step}`} aria-hidden="true">
        {template.map((node) => (
          <use key={node.role} href={`#${node.kind}`} class="node" data-kind={node.kind} data-priority={node.priority} data-level="4"
            x={node.column * step + 1.5} y={node.row * step + 1.5} width="10" height="10" />
        ))}
      </svg>
    );
  }
}
